/** What the figures were measured on. Names no machine. */

import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { median } from './load.ts';

export function environment(gatepost: string, folder: string): Record<string, string> {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
  const memory = /^MemTotal: +(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  const cores = navigator.hardwareConcurrency;
  return {
    CPU: `${cpu ?? process.arch}, ${cores} cores${cores > 1 ? ' (server on one, wrk on another)' : ''}`,
    memory: `${Math.round(Number(memory) / 1024 / 1024)} GB`,
    system: `Linux ${/^\d+\.\d+/.exec(release())?.[0]}`,
    'write of 4 KiB with fsync': `${Math.round(fsyncUs(folder))} us (median)`,
    gatepost: firstLine([gatepost, 'version']),
    Bun: Bun.version,
    wrk: firstLine(['wrk', '-v']).replace(/ \[.*/, ''),
  };
}

function firstLine(command: string[]): string {
  const { stdout } = Bun.spawnSync(command, { stderr: 'ignore' });
  return stdout.toString().split('\n')[0] ?? '';
}

function fsyncUs(folder: string): number {
  const fd = openSync(join(folder, 'fsync'), 'w');
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: 200 }, () => {
    const startMs = performance.now();
    writeSync(fd, block);
    fsyncSync(fd);
    return (performance.now() - startMs) * 1000;
  });
  closeSync(fd);
  return median(times);
}

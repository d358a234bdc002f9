/** The environment of the measurements. Names no machine. */

import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { loadavg, release } from 'node:os';
import { join } from 'node:path';
import { type Bench, median, ROOT } from './driver.ts';

/** Ticks of all cores since the machine started: those in use, and those that a host kept back. */
export interface ProcessorTimes {
  all: number;
  stolen: number;
  loadAverage: number;
}

export function processorTimes(): ProcessorTimes {
  const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
  const ticks = line.split(/ +/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, each) => sum + each, 0);
  return { all, stolen: ticks[7] ?? 0, loadAverage: loadavg()[0] ?? 0 };
}

/** Lists it; `before`: from the start of the bench, to tell how much of the machine others had. */
export function environment(bench: Bench, before: ProcessorTimes): string {
  const now = processorTimes();
  const stolen = (now.stolen - before.stolen) / (now.all - before.all);
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
  const memory = /^MemTotal: +(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  const cores = navigator.hardwareConcurrency;
  return Object.entries({
    CPU: `${cpu ?? process.arch}, ${cores} cores${cores > 1 ? ' (server on one, load on another)' : ''}`,
    memory: `${Math.round(Number(memory) / 1024 / 1024)} GB`,
    system: `Linux ${/^\d+\.\d+/.exec(release())?.[0]}`,
    'write of 4 KiB with fsync': `${Math.round(fsyncUs(bench.folder))} us (median)`,
    quiet: `load average ${before.loadAverage.toFixed(2)} before the bench; ${(stolen * 100).toFixed(1)} % of the time kept back by the host meanwhile`,
    gatepost: firstLine([bench.executable, 'version']),
    Bun: Bun.version,
    wrk: firstLine(['wrk', '-v']).replace(/ \[.*/, ''),
  })
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n');
}

/** Prints a result; keeps it in bench/results if the whole bench ran as it comes. */
export async function writeResult(
  bench: Bench,
  name: string,
  title: string,
  text: string,
): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const whole = `# ${title} of ${date}\n\n${text}\n`;
  console.log(whole);
  if (!bench.isPlain) return;
  const path = join('bench', 'results', `${date}${name}.md`);
  await Bun.write(join(ROOT, path), whole);
  bench.progress(`written to ${path}`);
}

function firstLine(command: string[]): string {
  const { stdout } = Bun.spawnSync(command, { stderr: 'ignore' });
  return stdout.toString().split('\n')[0] ?? '';
}

export function fsyncUs(folder: string): number {
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

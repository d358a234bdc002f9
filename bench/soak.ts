/** A mixed load for minutes; memory, file descriptors and the write-ahead log are sampled. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { type Case, share } from './driver.ts';
import type { Server } from './process.ts';
import { authKey, providerCode } from './shape.ts';
import { Findings, Load } from './soak-load.ts';

const SAMPLE_MS = 1_000;
/** How much more anonymous memory the second half may end with than it began with, MiB. */
const MEMORY_GROWTH_MAX_MIB = 4;
const FILES_GROWTH_MAX = 3;

interface Sample {
  atS: number;
  rssMib: number;
  anonymousMib: number;
  files: number;
  logMib: number;
}

function sample({ pid, memory }: Server, dataDir: string, atS: number): Sample {
  const { rssKib, anonymousKib } = memory();
  return {
    atS,
    rssMib: rssKib / 1024,
    anonymousMib: anonymousKib / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    logMib: (statSync(join(dataDir, 'gatepost.db-wal')).size ?? 0) / 1024 ** 2,
  };
}

/** How much a value grows over the samples by the straight line that fits them best. */
function growth(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const times = samples.map(({ atS }) => atS);
  const values = samples.map(of);
  const [middle, level] = [mean(times), mean(values)];
  const slope =
    mean(times.map((time, i) => (time - middle) * ((values[i] ?? 0) - level))) /
    mean(times.map((time) => (time - middle) ** 2));
  return slope * ((times.at(-1) ?? 0) - (times[0] ?? 0));
}

function printCalls({ tookMs }: Findings): void {
  console.log('| Call | Answers | p50 ms | p99 ms | slowest ms |\n|---|---:|---:|---:|---:|');
  for (const [call, times] of [...tookMs].sort()) {
    const cells = [share(times, 0.5), share(times, 0.99), share(times, 1)].map((ms) =>
      ms.toFixed(1),
    );
    console.log(`| ${call} | ${times.length} | ${cells.join(' | ')} |`);
  }
}

function printSamples(samples: readonly Sample[]): void {
  console.log('\n| s | RSS MiB | anonymous MiB | files | WAL MiB |\n|---:|---:|---:|---:|---:|');
  const step = Math.max(1, Math.floor(samples.length / 12));
  for (const one of samples.filter((_, i) => i % step === 0 || i === samples.length - 1)) {
    const { atS, rssMib, anonymousMib, files, logMib } = one;
    const cells = [atS.toFixed(0), rssMib.toFixed(1), anonymousMib.toFixed(1)];
    console.log(`| ${[...cells, files, logMib.toFixed(1)].join(' | ')} |`);
  }
}

/** Sums the series of a metric whose labels hold `part`. */
function sumOf(metrics: string, name: string, part: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(part))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((a, b) => a + b, 0);
}

export const soak: Case = {
  isSpread: true,
  about:
    'providers, devices, polls, streams, sends, mistakes and a monitor at once; ends with 1 if an answer is not as it should be, or memory or files grow',
  options: { seconds: '600', fill: '200000' },
  run: async (bench) => {
    const seconds = bench.number('seconds');
    const dataDir = bench.place('data');
    const [filler, ...providers] = [1, 2, 3, 4].map((n) => {
      bench.addProvider(dataDir, n);
      return { code: providerCode(n), key: authKey(n) };
    });
    if (!filler) throw new Error('there is no provider');
    const monitorPort = freePort();
    const server = await bench.serve(dataDir, { GATEPOST_MONITOR_PORT: String(monitorPort) });
    const monitorUrl = `http://127.0.0.1:${monitorPort}`;
    const findings = new Findings();
    let endMs = Number.POSITIVE_INFINITY;
    const isOver = () => performance.now() >= endMs;
    const load = new Load({ url: server.url, monitorUrl, providers, isOver }, findings);
    await load.fill(filler, bench.number('fill'));
    await load.prepare();
    const startMs = performance.now();
    endMs = startMs + seconds * 1000;
    const cpuBefore = server.cpuSeconds();
    const running = load.run();
    const samples: Sample[] = [];
    while (!isOver()) {
      samples.push(sample(server, dataDir, (performance.now() - startMs) / 1000));
      await Bun.sleep(SAMPLE_MS);
    }
    await running;
    const metrics = await (await fetch(`${monitorUrl}/metrics`)).text();
    const cpuShare = (server.cpuSeconds() - cpuBefore) / seconds;
    await server.stop();

    printCalls(findings);
    printSamples(samples);
    const answerCount = [...findings.answers.values()].reduce((a, b) => a + b, 0);
    console.log(
      `\n${answerCount} answers in ${seconds} s, ${findings.received} messages received, ${(cpuShare * 100).toFixed(0)} % of a core`,
    );
    const half = samples.slice(Math.floor(samples.length / 2));
    const memoryMib = growth(half, ({ anonymousMib }) => anonymousMib);
    const files = growth(half, (one) => one.files);
    const faults = sumOf(metrics, 'gatepost_log_events_total', 'level="error"');
    const unsaved = sumOf(metrics, 'gatepost_commits_total', 'outcome="failed"');
    const verdicts: [string, boolean, string][] = [
      ['answers', findings.unexpected.size === 0, `${sum(findings.unexpected)} unexpected`],
      ['messages', findings.received > 0, `${findings.received} received`],
      ['faults', faults + unsaved === 0, `${faults} logged, ${unsaved} commits failed`],
      [
        'memory',
        memoryMib < MEMORY_GROWTH_MAX_MIB,
        `${memoryMib.toFixed(1)} MiB in the second half`,
      ],
      ['files', files < FILES_GROWTH_MAX, `${files.toFixed(1)} in the second half`],
    ];
    for (const [name, isGood, figure] of verdicts) {
      console.log(`${isGood ? 'good  ' : 'WRONG '} ${name}: ${figure}`);
    }
    for (const [what, count] of findings.unexpected) console.log(`  ${count} × ${what}`);
    return verdicts.every(([, isGood]) => isGood);
  },
};

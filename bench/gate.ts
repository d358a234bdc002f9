/**
 * Measures `/gate` beside `/install`, for HWIDs that are known: processor time of one server for
 * each request, the cases taking turns.
 *
 *   bun bench/gate.ts [--executable dist/gatepost] [--rounds 9] [--seconds 2] [--links 10000]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startGatepost } from './cases.ts';
import { fillThroughApi } from './fill.ts';
import { load, type Measurement, median } from './load.ts';
import { stopAll } from './process.ts';
import type { Shape } from './shape.ts';

/** Cases of `load.lua`; the others are measured by the first. */
const KINDS = ['known-hwid', 'gate-code', 'gate-key'] as const;
const CONNECTIONS = 32;

const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    links: { type: 'string', default: '10000' },
  },
});
const { executable } = options;
const linkCount = Number(options.links);
/** One provider: ids of links then need no order. */
const shape: Shape = {
  name: 'gate',
  providerCount: 1,
  linkCount,
  deviceCount: linkCount,
  run: 1,
};

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const dataDir = join(folder, 'data');
console.error(`gate: ${linkCount} links and as many devices`);
await fillThroughApi(executable, dataDir, shape);
const server = await startGatepost(executable, dataDir, {
  GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
});
const common = { connections: CONNECTIONS, shape };
for (const kind of KINDS) await load(server, { ...common, kind, seconds: 1, verify: true });
const rounds: Measurement[][] = [];
for (let round = 0; round < Number(options.rounds); round++) {
  const measured: Measurement[] = [];
  for (const kind of KINDS) {
    const seconds = Number(options.seconds);
    measured.push(await load(server, { ...common, kind, seconds, verify: false }));
  }
  rounds.push(measured);
}
await server.stop();

console.log('| case | us | requests/s | us against /install | least | most |');
console.log('|---|---|---|---|---|---|');
for (const [at, kind] of KINDS.entries()) {
  const each = (of: (measured: Measurement) => number) =>
    rounds.map((measured) => of(measured[at] as Measurement));
  const ratios = rounds.map(([first, ...others]) => {
    const { cpuUs } = first as Measurement;
    return ([first, ...others][at] as Measurement).cpuUs / cpuUs;
  });
  const cells = [
    kind,
    median(each(({ cpuUs }) => cpuUs)).toFixed(2),
    median(each(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0),
    ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3)),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
process.exit(0);

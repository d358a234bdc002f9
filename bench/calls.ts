/**
 * How long one call of the console holds the server: the longest wait of another caller that asks
 * one small thing again and again, beside its wait while the server is idle, in the same run.
 *
 *   bun bench/calls.ts [--executable FILE] [--links 100000] [--only TEXT] [--rounds 7]
 *
 * Ends with 1 if another caller waits 20 ms longer than that in the median of the rounds.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOAD_CORE, median, onServerCore } from './load.ts';
import { onCore, startServer, stopAll } from './process.ts';
import { seed } from './seed.ts';
import { authKey, providerCode } from './shape.ts';

const HOLD_MAX_MS = 20;
const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    links: { type: 'string', default: '100000' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '7' },
  },
});
const linkCount = Number(options.links);

const folder = mkdtempSync(join(tmpdir(), 'gatepost-calls-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const code = providerCode(1);
const ALL = { search: null, status: null, isFull: false };
const NOTED = { ...ALL, search: 'customer 9' };
const list = (filter: object) => ({ filter, isOldest: false, beyondId: null, countMax: 1_000 });
const bulk = (filter: object) => ({ filter, change: { limit: 2 } });

/** Calls that look at many links of a provider. */
const CALLS: readonly (readonly [what: string, name: string, given: object])[] = [
  ['a change of all links, looked at', 'links.bulk-preview', bulk(ALL)],
  ['a change of links by their note', 'links.bulk-preview', bulk(NOTED)],
  ['a change of full links', 'links.bulk-preview', bulk({ ...ALL, isFull: true })],
  ['a removal of all links, looked at', 'links.bulk-preview', { filter: ALL, change: null }],
  ['the first page of links', 'links.list', list(ALL)],
  ['links by their note', 'links.list', list(NOTED)],
  ['links that are full', 'links.list', list({ ...ALL, isFull: true })],
  ['a part of the file of links', 'links.csv', { filter: ALL, beyondId: null }],
  ['the overview', 'overview.read', {}],
];

const dataDir = join(folder, 'data');
mkdirSync(dataDir);
const shape = { name: 'calls', providerCount: 1, linkCount, deviceCount: linkCount / 2, run: 1 };
seed(options.executable, dataDir, shape, Date.now());
const server = await startServer(
  onServerCore([options.executable, 'serve', '--data', dataDir, '--port', '0']),
);
const site = server.url.replace('127.0.0.1', 'localhost');

let cookie = '';
async function call(name: string, given: object): Promise<string> {
  const headers = { origin: site, cookie, 'content-type': 'application/json' };
  const body = JSON.stringify(cookie === '' ? given : { at: code, ...given });
  const init = { method: 'POST', headers, body };
  const response = await fetch(`${site}/console/call/${name}`, init);
  cookie ||= response.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (await response.text()).slice(0, 60);
}

const prober = startProber();
await call('session.key', { code, key: authKey(1) });
const idleMs = await waitOf(() => Bun.sleep(100));
console.log(`${'nothing'.padEnd(36)} ${idleMs.toFixed(1)} ms`);
const over: string[] = [];
for (const [what, name, given] of CALLS) {
  if (!what.includes(options.only)) continue;
  let answer = '';
  const waitMs = await waitOf(async () => {
    answer = await call(name, given);
  });
  if (waitMs - idleMs > HOLD_MAX_MS) over.push(what);
  const ratio = (waitMs / idleMs).toFixed(1);
  console.log(`${what.padEnd(36)} ${waitMs.toFixed(1)} ms  x${ratio.padEnd(6)} ${answer}`);
}
await server.stop();
console.log(over.length === 0 ? 'no call holds the server' : `over 20 ms: ${over.join('; ')}`);
process.exit(over.length === 0 ? 0 : 1);

/** Returns the median of the longest waits of the other caller while `act` runs, ms. */
async function waitOf(act: () => Promise<void>): Promise<number> {
  const waits: number[] = [];
  await act();
  for (let round = 0; round < Number(options.rounds); round++) {
    await Bun.sleep(5);
    await prober();
    await act();
    waits.push(await prober());
  }
  return median(waits);
}

function startProber(): () => Promise<number> {
  const { hostname, port } = new URL(server.url);
  const target = `/api/list-domain?provider_code=${code}&auth_key=${authKey(1)}`;
  const words = [join(import.meta.dir, 'worst-prober.ts'), hostname, port, target];
  const child = Bun.spawn(onCore(LOAD_CORE, [process.execPath, ...words]), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  process.once('exit', () => child.kill());
  const reader = child.stdout.getReader();
  return async () => {
    child.stdin.write('\n');
    child.stdin.flush();
    const { value } = await reader.read();
    return Number(new TextDecoder().decode(value));
  };
}

/**
 * The effect of a caller with 2,000 connections on twelve others: at each door, on SQLite and
 * on PostgreSQL, the time of a single call of the twelve, alone (with as many connections that do
 * nothing) and beside the one that asks as fast as it is answered.
 *
 *   bun bench/fairness.ts [--store sqlite|postgres|both] [--connections 2000] [--seconds 5]
 *     [--only writes] [--executable FILE]
 *
 * Prints a table, keeps no file. Ends with 1 if the p99 of the twelve is above 3 times that alone
 * and 20 ms, or one of them is refused. Server and load have a core each, PostgreSQL shares both.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hostHash } from '../src/core/host-name.ts';
import type { CallersOrder, CallersReport } from './fairness-callers.ts';
import { DOORS, type Door, GATE_HOST, PANEL_HOST, SHAPE } from './fairness-doors.ts';
import { LOAD_CORE, onServerCore } from './load.ts';
import { missingPostgres, startPostgres } from './peers/postgres.ts';
import { onCore, type Server, startServer, stopAll } from './process.ts';
import { seed } from './seed.ts';
import { seedPostgres } from './seed-postgres.ts';
import { authKey, providerCode } from './shape.ts';

const { values: options } = parseArgs({
  options: {
    store: { type: 'string', default: 'both' },
    connections: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
  },
});
const { executable, store } = options;
const connections = Number(options.connections);
const seconds = Number(options.seconds);
const doors = DOORS.filter(({ name }) => options.only === undefined || options.only === name);

/** Providers beside the one with many connections. */
const OTHERS = Array.from({ length: SHAPE.providerCount - 1 }, (_, n) => n + 2);
/** The pause of each of the others between two calls, ms. */
const PAUSE_MS = 40;
/** The time that the panel takes for an answer, ms. */
const PANEL_MS = 20;
/** The time that the many connections have to be under way, ms. */
const BEGIN_MS = 1_500;
const wantedMs = (aloneMs: number) => 3 * aloneMs + 20;

const missing = Bun.which('wrk')
  ? store === 'sqlite'
    ? null
    : missingPostgres()
  : 'wrk (make bench-tools)';
if (missing !== null || doors.length === 0) {
  console.error(`bench: there is no ${missing ?? options.only}`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const MADE_UP = /\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const panel = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async ({ url }) => {
    // A made-up key is refused, else no links are made.
    if (MADE_UP.test(url)) return new Response(null, { status: 404 });
    await Bun.sleep(PANEL_MS);
    return new Response('a subscription\n');
  },
});
let isMet = true;
console.log(
  `${connections} connections of one party, ${OTHERS.length} others, ${seconds} s each; ms\n`,
);
console.log(
  '| Store | Door | The one, /s | p99 alone | p50 | p99 | Longest | Wanted | Refused | |',
);
console.log('|---|---|--:|--:|--:|--:|--:|--:|--:|---|');
for (const name of ['sqlite', 'postgres'].filter((each) => store === 'both' || store === each)) {
  const server = name === 'sqlite' ? await startOnFile() : await startOnPostgres();
  await settle(server);
  for (const door of doors) await measure(name, server, door);
  await server.stop();
}
process.exit(isMet ? 0 : 1);

function serve(dataDir: string, env: Record<string, string> = {}): Promise<Server> {
  const upstream = {
    host: PANEL_HOST,
    url: panel.url.origin,
    provider: providerCode(2),
    key_path: ['/s/{key}'],
    default_limit: 3,
  };
  return startServer(onServerCore([executable, 'serve', '--data', dataDir, '--port', '0']), {
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    GATEPOST_LINKS_PER_PROVIDER_MAX: '1000000000',
    GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]),
    ...env,
  });
}

function startOnFile(): Promise<Server> {
  const dataDir = join(folder, 'sqlite');
  seed(executable, dataDir, SHAPE, Date.now());
  return serve(dataDir);
}

async function startOnPostgres(): Promise<Server> {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const files = join(folder, 'postgres');
  mkdirSync(files);
  const postgres = await startPostgres(files, {}, port);
  const url = await seedPostgres(executable, port, SHAPE, Date.now());
  await postgres.checkpoint();
  return serve(mkdtempSync(join(folder, 'node-')), { GATEPOST_DATABASE_URL: url });
}

/** Binds the host of the gate at every provider; that of the panel is bound already. */
async function settle({ url }: Server): Promise<void> {
  for (let n = 1; n <= SHAPE.providerCount; n++) {
    const who = `provider_code=${providerCode(n)}&auth_key=${authKey(n)}`;
    const answer = await fetch(`${url}/api/add-domain?${who}&domain_hash=${hostHash(GATE_HOST)}`);
    const { rc, msg } = (await answer.json()) as { rc: number; msg: string };
    if (rc !== 1) throw new Error(`provider ${n} has no binding: ${msg}`);
  }
}

async function measure(storeName: string, server: Server, door: Door): Promise<void> {
  await callers(server, door, { seconds: 1, idleConnections: 0 });
  const alone = await callers(server, door, { seconds, idleConnections: connections });
  const { hostname, port } = new URL(server.url);
  const script = join(import.meta.dir, 'fairness.lua');
  const lastS = Math.ceil(seconds + BEGIN_MS / 1_000) + 1;
  const flags = ['-t1', `-c${connections}`, `-d${lastS}s`, '--timeout', '15s', '-s', script];
  const words = [door.noise, String(SHAPE.providerCount), String(SHAPE.linkCount)];
  const wrk = Bun.spawn(
    onCore(LOAD_CORE, ['wrk', ...flags, `http://${hostname}:${port}`, '--', ...words]),
    { stdout: 'pipe', stderr: 'inherit' },
  );
  process.once('exit', () => wrk.kill());
  await Bun.sleep(BEGIN_MS);
  const beside = await callers(server, door, { seconds, idleConnections: 0 });
  const output = await new Response(wrk.stdout).text();
  const requests = Number(/requests=(\d+)/.exec(output)?.[1]);
  const wanted = wantedMs(alone.p99Ms);
  const isGood = beside.p99Ms <= wanted && beside.refused + alone.refused === 0;
  isMet &&= isGood;
  const cells = [
    ...[storeName, door.name, (requests / lastS).toFixed(0), alone.p99Ms.toFixed(1)],
    ...[beside.p50Ms, beside.p99Ms, beside.longestMs, wanted].map((ms) => ms.toFixed(1)),
    ...[`${beside.refused} of ${beside.calls}`, isGood ? 'met' : '**missed**'],
  ];
  console.log(`| ${cells.join(' | ')} |`);
  const refusal = beside.refusal ?? alone.refusal;
  if (refusal !== null) console.error(`bench: refused: ${refusal}`);
}

async function callers(
  server: Server,
  door: Door,
  wanted: Pick<CallersOrder, 'seconds' | 'idleConnections'>,
): Promise<CallersReport> {
  const { hostname, port } = new URL(server.url);
  const requests = OTHERS.map((n) => door.call(n));
  const order: CallersOrder = {
    host: hostname,
    port: Number(port),
    requests,
    good: door.good,
    pauseMs: PAUSE_MS,
    ...wanted,
  };
  const script = join(import.meta.dir, 'fairness-callers.ts');
  const child = Bun.spawn(onCore(LOAD_CORE, [process.execPath, script, JSON.stringify(order)]), {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  process.once('exit', () => child.kill());
  return (await new Response(child.stdout).json()) as CallersReport;
}

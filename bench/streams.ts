/**
 * Open WebSockets on one process: memory of each, and the time in which one general notification
 * reaches all of them and comes back acknowledged. Prints one table; writes nothing to the
 * repository.
 *
 *   bun bench/streams.ts [--streams 10000] [--rounds 3] [--executable FILE]
 *     [--store sqlite|postgres] [--silent]
 *
 * `--silent`: no device acknowledges, so that the messages of all rounds lie in its inbox.
 *
 * Both ends need a file descriptor for each stream: `ulimit -n` of more than `--streams`.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQL } from 'bun';
import { freePort } from '../test/support/free-port.ts';
import { until } from '../test/support/until.ts';
import { startPostgres } from './peers/postgres.ts';
import { onCore, type Server, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    executable: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    silent: { type: 'boolean', default: false },
  },
});
const streamCount = Number(options.streams);
const rounds = Number(options.rounds);
/** Handshakes and registrations under way at a time. */
const STARTING_MAX = 50;
const PROBE_INTERVAL_MS = 10;
const DEADLINE_MS = 120_000;

const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? options.executable.split(' ') : [process.execPath, source];
const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
const dataDir = join(folder, 'data');
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const CREDENTIALS = { provider_code: 'BENCH001', auth_key: 'bench-key-of-exactly-32-letters_' };
const QUERY = new URLSearchParams(CREDENTIALS);
const HASH = 'a'.repeat(64);
const databaseEnv: Record<string, string> = {};

interface Round {
  /** From the call to the first, the middle and the last device, ms. */
  firstMs: number;
  medianMs: number;
  lastMs: number;
  /** From the call until the ledger has all acknowledgements, ms. */
  acknowledgedMs: number;
  /** The slowest of the calls that were made meanwhile, ms. */
  probeMaxMs: number;
  probeP99Ms: number;
  /** Processor time of the server for each message, with its acknowledgement, us. */
  cpuUs: number;
}

/** When each device got the message of this round. */
let arrivals: number[] = [];
let openCount = 0;

async function ask(url: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = (await (await fetch(url + path, init)).json()) as Record<string, unknown>;
  if (answer['rc'] !== 1) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function connect(url: string, hwid: string): Promise<void> {
  const draft = { hwid, os: 'android', provider_code: 'BENCH001', domain_hash: HASH };
  const { device_token: token } = await ask(url, '/device/register', draft);
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/device/stream`, { headers });
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
  });
  openCount += 1;
  socket.onclose = () => {
    openCount -= 1;
  };
  socket.onmessage = ({ data }) => {
    const { data: messages } = JSON.parse(String(data)) as { data?: { id: number }[] };
    if (messages === undefined) return;
    arrivals.push(performance.now());
    if (options.silent) return;
    socket.send(JSON.stringify({ items: messages.map(({ id }) => ({ id, state: 'received' })) }));
  };
}

async function connectAll(url: string): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < streamCount; n = next++) await connect(url, `device-${n}`);
  };
  await Promise.all(Array.from({ length: STARTING_MAX }, lane));
}

/** Calls an endpoint steadily; the function returned ends that and gives the times. */
function startProbe(url: string): () => Promise<number[]> {
  const times: number[] = [];
  let isEnding = false;
  const running = (async () => {
    while (!isEnding) {
      const startMs = performance.now();
      await ask(url, `/api/list-install?${QUERY}&id=1`);
      times.push(performance.now() - startMs);
      await Bun.sleep(PROBE_INTERVAL_MS);
    }
  })();
  return async () => {
    isEnding = true;
    await running;
    return times.toSorted((a, b) => a - b);
  };
}

/** Runs a command of the program; returns what it prints. */
function command(...words: string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none', ...databaseEnv };
  const ran = Bun.spawnSync([...program, ...words, '--data', dataDir], { env });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString();
}

function receivedCount(id: unknown): number {
  return JSON.parse(command('distribution', 'show', String(id), '--json')).ledger.received;
}

async function notify(url: string): Promise<Round> {
  arrivals = [];
  const endProbe = startProbe(url);
  const cpuBefore = server.cpuSeconds();
  const calledMs = performance.now();
  const form = { body: 'Hello to everybody', type_push: 'optional', expire_days: 1 };
  const body = { PushNotificationForm: form, os: ['android'] };
  const { id } = await ask(url, `/remote/notification?${QUERY}`, body);
  await until('all have the message', () => arrivals.length >= streamCount, DEADLINE_MS);
  const probes = await endProbe();
  const times = arrivals.map((atMs) => atMs - calledMs).toSorted((a, b) => a - b);
  const receivedMax = options.silent ? 0 : streamCount;
  await until('all have acknowledged', () => receivedCount(id) === receivedMax, DEADLINE_MS);
  const at = (of: readonly number[], share: number) => of[Math.floor((of.length - 1) * share)] ?? 0;
  return {
    firstMs: at(times, 0),
    medianMs: at(times, 0.5),
    lastMs: at(times, 1),
    acknowledgedMs: performance.now() - calledMs,
    probeMaxMs: at(probes, 1),
    probeP99Ms: at(probes, 0.99),
    cpuUs: ((server.cpuSeconds() - cpuBefore) * 1e6) / streamCount,
  };
}

/** Starts PostgreSQL if it is asked for. */
async function startDatabase(): Promise<string> {
  if (options.store !== 'postgres') return `sqlite://${join(dataDir, 'gatepost.db')}`;
  const place = join(folder, 'postgres');
  mkdirSync(place);
  const port = freePort();
  await startPostgres(place, {}, port);
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  databaseEnv['GATEPOST_DATABASE_URL'] = url;
  return url;
}

async function start(): Promise<Server> {
  const identity = ['--code', CREDENTIALS.provider_code, '--key', CREDENTIALS.auth_key];
  command('provider', 'add', '--name', 'bench', '--plan', 'enterprise', ...identity);
  return startServer(onCore(0, [...program, 'serve', '--port', '0', '--data', dataDir]), {
    ...databaseEnv,
    GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
    GATEPOST_STREAMS_MAX: String(streamCount),
  });
}

/** General notifications are five minutes apart; the bench has not that patience. */
async function forgetInterval(): Promise<void> {
  const db = new SQL(databaseUrl);
  if (options.store === 'sqlite') await db.unsafe('PRAGMA busy_timeout = 5000');
  await db.unsafe('UPDATE provider SET last_general_at_ms = NULL');
  await db.close();
}

// The server has a core of its own, and so has the load.
if (onCore(1, []).length > 0) Bun.spawnSync(['taskset', '-a', '-pc', '1', String(process.pid)]);
const databaseUrl = await startDatabase();
const server = await start();
await ask(server.url, `/api/add-domain?${QUERY}&domain_hash=${HASH}`);
const before = server.memory().anonymousKib;
const connectMs = performance.now();
await connectAll(server.url);
console.log(`${openCount} streams open after ${Math.round(performance.now() - connectMs)} ms`);
// Two rounds of pings: by now a stream that was closed by mistake is counted.
await Bun.sleep(20_000);
if (openCount < streamCount) throw new Error(`${streamCount - openCount} streams were cut off`);
const after = server.memory().anonymousKib;
console.log(
  `memory ${Math.round(before / 1024)} MiB before, ${Math.round(after / 1024)} MiB with them: ${((after - before) / streamCount).toFixed(1)} KiB each`,
);
const cpuBefore = server.cpuSeconds();
await Bun.sleep(10_000);
console.log(`idle: ${(server.cpuSeconds() - cpuBefore).toFixed(2)} s of processor time in 10 s`);
for (let n = 0; n < rounds; n += 1) {
  await forgetInterval();
  // A change by another process makes all streams look.
  await Bun.sleep(2_000);
  const round = Object.entries(await notify(server.url));
  console.log(round.map(([name, value]) => `${name} ${value.toFixed(1)}`).join('  '));
}
console.log(`memory at the end ${Math.round(server.memory().anonymousKib / 1024)} MiB`);
await server.stop();
process.exit(0);

/**
 * Open WebSockets on one process: memory of each, and the time in which one general notification
 * reaches all of them and comes back acknowledged. Prints one table; writes nothing to the
 * repository.
 *
 *   bun bench/streams.ts [--streams 10000] [--rounds 3] [--executable FILE]
 *
 * Both ends need a file descriptor for each stream: `ulimit -n` of more than `--streams`.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { until } from '../test/support/until.ts';
import { type Server, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    executable: { type: 'string' },
  },
});
const streamCount = Number(options.streams);
const rounds = Number(options.rounds);
/** Handshakes and registrations under way at a time. */
const STARTING_MAX = 50;
const PROBE_INTERVAL_MS = 10;
const DEADLINE_MS = 120_000;

const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? [options.executable] : [process.execPath, source];
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

function receivedCount(id: unknown): number {
  const words = ['distribution', 'show', String(id), '--json', '--data', dataDir];
  const { stdout } = Bun.spawnSync([...program, ...words]);
  return JSON.parse(stdout.toString()).ledger.received;
}

async function notify(url: string): Promise<Round> {
  arrivals = [];
  const endProbe = startProbe(url);
  const calledMs = performance.now();
  const form = { body: 'Hello to everybody', type_push: 'optional', expire_days: 1 };
  const body = { PushNotificationForm: form, os: ['android'] };
  const { id } = await ask(url, `/remote/notification?${QUERY}`, body);
  await until('all have the message', () => arrivals.length >= streamCount, DEADLINE_MS);
  const probes = await endProbe();
  const times = arrivals.map((atMs) => atMs - calledMs).toSorted((a, b) => a - b);
  await until('all have acknowledged', () => receivedCount(id) === streamCount, DEADLINE_MS);
  const at = (of: readonly number[], share: number) => of[Math.floor((of.length - 1) * share)] ?? 0;
  return {
    firstMs: at(times, 0),
    medianMs: at(times, 0.5),
    lastMs: at(times, 1),
    acknowledgedMs: performance.now() - calledMs,
    probeMaxMs: at(probes, 1),
    probeP99Ms: at(probes, 0.99),
  };
}

async function start(): Promise<Server> {
  const identity = ['--code', CREDENTIALS.provider_code, '--key', CREDENTIALS.auth_key];
  const add = ['provider', 'add', '--name', 'bench', '--plan', 'enterprise', '--data', dataDir];
  const made = Bun.spawnSync([...program, ...add, ...identity]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return startServer([...program, 'serve', '--port', '0', '--data', dataDir], {
    GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
    GATEPOST_STREAMS_MAX: String(streamCount),
  });
}

/** General notifications are five minutes apart; the bench has not that patience. */
async function forgetInterval(): Promise<void> {
  const { Database } = await import('bun:sqlite');
  const db = new Database(join(dataDir, 'gatepost.db'));
  db.run('PRAGMA busy_timeout = 5000');
  db.run('UPDATE provider SET last_general_at_ms = NULL');
  db.close();
}

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
  const round = Object.entries(await notify(server.url));
  console.log(round.map(([name, value]) => `${name} ${value.toFixed(1)}`).join('  '));
}
console.log(`memory at the end ${Math.round(server.memory().anonymousKib / 1024)} MiB`);
await server.stop();
process.exit(0);

/**
 * Messages over two nodes on one PostgreSQL. First single ones: how long from the answer to a send
 * at one node until a device has it on its stream at the other. Then many streams, half on each
 * node: one general notification reaches all of them and comes back acknowledged. Prints a few
 * lines; writes nothing to the repository.
 *
 *   bun bench/nodes.ts [--messages 500] [--streams 10000] [--rounds 3] [--executable FILE]
 *
 * All ends need a file descriptor for each stream: `ulimit -n` of more than two times `--streams`.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQL } from 'bun';
import { until } from '../test/support/until.ts';
import { startPostgres } from './peers/postgres.ts';
import { type Server, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '500' },
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    executable: { type: 'string' },
  },
});
const messageCount = Number(options.messages);
const streamCount = Number(options.streams);
/** Handshakes and registrations under way at a time. */
const STARTING_MAX = 50;
/** Between two single messages, ms. */
const PACE_MS = 20;
const DEADLINE_MS = 120_000;

const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? [options.executable] : [process.execPath, source];
const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const CREDENTIALS = { provider_code: 'BENCH001', auth_key: 'bench-key-of-exactly-32-letters_' };
const QUERY = new URLSearchParams(CREDENTIALS);
const HASH = 'a'.repeat(64);

/** Receives each message; every measurement replaces it. */
let onMessage: (node: number, id: number) => void = () => {};
let openCount = 0;

async function ask(url: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = (await (await fetch(url + path, init)).json()) as Record<string, unknown>;
  if (answer['rc'] !== 1) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function connect(node: number, url: string, hwid: string): Promise<void> {
  const draft = {
    hwid,
    os: 'android',
    provider_code: CREDENTIALS.provider_code,
    domain_hash: HASH,
  };
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
    for (const { id } of messages) onMessage(node, id);
    socket.send(JSON.stringify({ items: messages.map(({ id }) => ({ id, state: 'received' })) }));
  };
}

const sorted = (times: readonly number[]) => times.toSorted((a, b) => a - b);
const at = (times: readonly number[], share: number) =>
  times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
const ms = (figure: number) => `${figure.toFixed(1)} ms`;
const spread = (times: readonly number[]) =>
  `p50 ${ms(at(times, 0.5))}, p99 ${ms(at(times, 0.99))}, max ${ms(at(times, 1))}`;

/** Sends at the first node to a device at `node`, one message after the other. */
async function singles(first: Server, node: number, hwid: string): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < messageCount; n++) {
    const heard = new Map<number, number>();
    onMessage = (_, id) => heard.set(id, performance.now());
    const command = { action_type: 'import-data', import_data: `message ${n}`, hwid };
    const answer = await ask(first.url, `/remote/command?${QUERY}`, command);
    const answeredMs = performance.now();
    const id = Number(answer['id']);
    await until('the message', () => heard.has(id), DEADLINE_MS);
    times.push(Math.max(0, (heard.get(id) ?? 0) - answeredMs));
    await Bun.sleep(PACE_MS);
  }
  const where = node === 0 ? 'the same node' : 'another node';
  console.log(`${messageCount} messages to a device at ${where}: ${spread(sorted(times))}`);
}

/** One notification to all streams. */
async function general(first: Server, sql: SQL): Promise<void> {
  // General notifications are five minutes apart; the bench has not that patience.
  await sql`UPDATE provider SET last_general_at_ms = NULL`;
  const arrivals: number[][] = [[], []];
  onMessage = (node) => arrivals[node]?.push(performance.now());
  const calledMs = performance.now();
  const form = { body: 'Hello to everybody', type_push: 'optional', expire_days: 1 };
  const body = { PushNotificationForm: form, os: ['android'] };
  const { id } = await ask(first.url, `/remote/notification?${QUERY}`, body);
  await until('all have it', () => arrivals.flat().length >= openCount, DEADLINE_MS);
  await until(
    'all have acknowledged',
    async () => {
      const [row] = await sql`
        SELECT count(*)::int AS count FROM recipient
        WHERE distribution_id = ${Number(id)} AND received_at_ms IS NOT NULL`;
      return row.count === openCount;
    },
    DEADLINE_MS,
  );
  const took = arrivals.map((each) => sorted(each.map((atMs) => atMs - calledMs)));
  const nodes = took.map((each, node) => `node ${node + 1} ${spread(each)}`).join('; ');
  console.log(`${openCount} streams: ${nodes}; acknowledged ${ms(performance.now() - calledMs)}`);
}

const port = 20_000 + Math.floor(Math.random() * 10_000);
const pgFolder = join(folder, 'postgres');
mkdirSync(pgFolder);
const postgres = await startPostgres(pgFolder, {}, port);
const address = { hostname: '127.0.0.1', port, username: 'bench', password: '', tls: false };
const sql = new SQL({ adapter: 'postgres', ...address, database: 'postgres', max: 1 });
const env = {
  GATEPOST_DATABASE_URL: `postgres://bench@127.0.0.1:${port}/postgres`,
  GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
  GATEPOST_SENDS_PER_MINUTE_MAX: '1000000',
  GATEPOST_STREAMS_MAX: String(streamCount + 2),
};
const identity = ['--code', CREDENTIALS.provider_code, '--key', CREDENTIALS.auth_key];
const add = [...program, 'provider', 'add', '--name', 'bench', '--plan', 'enterprise', ...identity];
const made = Bun.spawnSync(add, {
  env: { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none', ...env },
});
if (made.exitCode !== 0) throw new Error(made.stderr.toString());
const nodes: Server[] = [];
for (const name of ['node1', 'node2']) {
  const words = [...program, 'serve', '--port', '0', '--data', join(folder, name)];
  nodes.push(await startServer(words, { ...env, GATEPOST_DATABASE_NODE: name }));
}
const urls = nodes.map(({ url }) => url);
const [first] = nodes;
if (first === undefined) throw new Error('no node serves');
await ask(first.url, `/api/add-domain?${QUERY}&domain_hash=${HASH}`);

for (const node of [0, 1]) {
  await connect(node, urls[node] ?? '', `single-${node}`);
  await singles(first, node, `single-${node}`);
}
let next = 0;
const lane = async () => {
  for (let n = next++; n < streamCount; n = next++) {
    await connect(n % 2, urls[n % 2] ?? '', `device-${n}`);
  }
};
const connectMs = performance.now();
await Promise.all(Array.from({ length: STARTING_MAX }, lane));
console.log(`${openCount} streams open after ${Math.round(performance.now() - connectMs)} ms`);
await Bun.sleep(20_000);
if (openCount < streamCount + 2) throw new Error(`${streamCount + 2 - openCount} were cut off`);
const beforeS = [...nodes, postgres.server].map((server) => server.cpuSeconds());
await Bun.sleep(10_000);
const idle = [...nodes, postgres.server].map(
  (server, n) => server.cpuSeconds() - (beforeS[n] ?? 0),
);
console.log(
  `idle, of 10 s: nodes ${idle
    .slice(0, 2)
    .map((s) => s.toFixed(2))
    .join(' + ')} s, PostgreSQL ${(idle[2] ?? 0).toFixed(2)} s`,
);
for (let n = 0; n < Number(options.rounds); n++) await general(first, sql);
process.exit(0);

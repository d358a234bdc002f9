/**
 * Streams of devices that sleep: memory of the server for each, processor time of their pings, and
 * what another caller notices of them. The server has one core, the devices and the caller have the
 * other. Prints a table; writes nothing to the repository.
 *
 *   bun bench/sleeping.ts [--streams 10000] [--first 1000] [--ping 0] [--seconds 27]
 *   [--executable FILE]
 *
 * `--ping 0` asks for none, which is 9 s; `--seconds` is how long the processor is watched.
 * Both ends need a file descriptor for each stream: `ulimit -n` of more than `--streams`.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Socket } from 'bun';
import { until } from '../test/support/until.ts';
import { onCore, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1000' },
    ping: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '27' },
    executable: { type: 'string' },
  },
});
const streamCount = Number(options.streams);
const watchedMs = Number(options.seconds) * 1000;
const query = options.ping === '0' ? '' : `?ping=${options.ping}`;
/** Handshakes and registrations under way at a time. */
const STARTING_MAX = 50;
const DEADLINE_MS = 120_000;
/** How long the other caller asks, ms. */
const CALLED_MS = 20_000;
const [SERVER_CORE, LOAD_CORE] = [0, 1];
const PING = 0x89;
/** An empty pong, masked with zeros. */
const PONG = new Uint8Array([0x8a, 0x80, 0, 0, 0, 0]);

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

let pingCount = 0;
let openCount = 0;
let isEnding = false;

async function ask(url: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = (await (await fetch(url + path, init)).json()) as Record<string, unknown>;
  if (answer['rc'] !== 1) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function registerOne(url: string, n: number): Promise<string> {
  const draft = { hwid: `device-${n}`, os: 'android', provider_code: 'BENCH001' };
  const answer = await ask(url, '/device/register', { ...draft, domain_hash: HASH });
  return String(answer['device_token']);
}

/** Opens a stream by hand, which answers pings and no more: the load is to cost little. */
async function connect(url: URL, token: string): Promise<Socket> {
  let isOpen = false;
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data(own, bytes) {
        if (isOpen && !isEnding) {
          if (bytes[0] !== PING) throw new Error(`not a ping: ${bytes.toString('latin1')}`);
          pingCount += 1;
          own.write(PONG);
        }
        isOpen = true;
      },
      close: () => {
        openCount -= 1;
      },
    },
  });
  openCount += 1;
  socket.write(
    [
      `GET /device/stream${query} HTTP/1.1`,
      `host: ${url.host}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n'),
  );
  await until('the handshake is answered', () => isOpen, DEADLINE_MS);
  return socket;
}

/** Does `each` for the streams of these numbers, some at a time. */
async function forAll<T>(from: number, to: number, each: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = from;
  const lane = async () => {
    for (let n = next++; n < to; n = next++) made[n] = await each(n);
  };
  await Promise.all(Array.from({ length: STARTING_MAX }, lane));
  return made;
}

if (navigator.hardwareConcurrency > 1) {
  Bun.spawnSync(['taskset', '-acp', String(LOAD_CORE), String(process.pid)]);
}
// Memory is compared after a collection, which the program makes on a signal that it ignores.
const collector = join(folder, 'collector.ts');
writeFileSync(collector, "process.on('SIGUSR2', () => Bun.gc(true));\n");
const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? [options.executable] : [process.execPath, source];
const serving = options.executable ? program : [process.execPath, '--preload', collector, source];
const identity = ['--code', CREDENTIALS.provider_code, '--key', CREDENTIALS.auth_key];
const add = ['provider', 'add', '--name', 'bench', '--plan', 'enterprise', '--data', dataDir];
const made = Bun.spawnSync([...program, ...add, ...identity]);
if (made.exitCode !== 0) throw new Error(made.stderr.toString());
const command = onCore(SERVER_CORE, [...serving, 'serve', '--port', '0', '--data', dataDir]);
const server = await startServer(command, {
  GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
  GATEPOST_STREAMS_MAX: String(streamCount),
});

async function memoryKib(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    process.kill(server.pid, 'SIGUSR2');
    await Bun.sleep(500);
  }
  return server.memory().rssKib;
}

await ask(server.url, `/api/add-domain?${QUERY}&domain_hash=${HASH}`);
const tokens = await forAll(0, streamCount, (n) => registerOne(server.url, n));
const url = new URL(server.url);
const open = (from: number, to: number) => forAll(from, to, (n) => connect(url, tokens[n] ?? ''));
const noneKib = await memoryKib();
// The code of a stream is compiled for the first ones, and the heap grows: they are counted apart.
const firstCount = Number(options.first);
await open(0, firstCount);
const firstKib = await memoryKib();
const startedMs = performance.now();
await open(firstCount, streamCount);
const openedMs = performance.now() - startedMs;
const allKib = await memoryKib();
const each = (kib: number, count: number) => `${(kib / count).toFixed(2)} KiB`;
console.log(
  `${openCount} streams: ${each(allKib - firstKib, streamCount - firstCount)} each beyond ${firstCount}, opened in ${(openedMs / 1000).toFixed(1)} s; ${each(allKib - noneKib, streamCount)} with those (${Math.round(noneKib / 1024)} MiB without streams, ${Math.round(allKib / 1024)} MiB with all)`,
);

const cpuBefore = server.cpuSeconds();
const pingsBefore = pingCount;
await Bun.sleep(watchedMs);
const cpu = server.cpuSeconds() - cpuBefore;
const pings = pingCount - pingsBefore;
console.log(
  `alone, ${watchedMs / 1000} s: ${pings} pings, ${((cpu * 60_000) / watchedMs).toFixed(2)} s of processor time in a minute`,
);

// Streams that opened together are pinged together: the caller is there when they are.
const pingMs = Number(options.ping) * 1000;
const pinged = Math.ceil((performance.now() - startedMs + CALLED_MS) / (pingMs || 1));
if (pingMs > CALLED_MS) {
  await Bun.sleep(startedMs + pinged * pingMs - CALLED_MS / 2 - 1_000 - performance.now());
}
const caller = Bun.spawn(
  onCore(LOAD_CORE, [
    ...[process.execPath, join(import.meta.dir, 'console-caller.ts')],
    `${server.url}/api/list-install?${QUERY}&id=1`,
  ]),
  { stdin: 'pipe', stdout: 'pipe' },
);
const lines = caller.stdout.pipeThrough(new TextDecoderStream()).getReader();
const report = async () => {
  caller.stdin.write('\n');
  await caller.stdin.flush();
  return (await lines.read()).value?.trim();
};
await Bun.sleep(1_000);
await report();
const calledBefore = pingCount;
await Bun.sleep(CALLED_MS);
console.log(`another caller beside ${pingCount - calledBefore} pings: ${await report()}`);
caller.kill();
if (openCount < streamCount) throw new Error(`${streamCount - openCount} streams were cut off`);
isEnding = true;
await server.stop();
process.exit(0);

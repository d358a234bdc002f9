/**
 * One general notification to many devices: how long it takes from the call to status 100, and what
 * other calls notice of it. Prints one table; nothing is written to the repository.
 *
 *   bun bench/messaging.ts [--devices 1000000] [--providers 1] [--rate 200] [--executable FILE]
 *
 * Without --executable the program runs from source. `--rate` is how many `list-install` calls of
 * one id another process makes a second, before and meanwhile. Several providers share the devices
 * and send at the same time.
 */

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AUTH_KEY, providerCode, seedDevices } from './messaging-seed.ts';
import { startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000000' },
    providers: { type: 'string', default: '1' },
    rate: { type: 'string', default: '200' },
    executable: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const deviceCount = Number(options.devices);
const providerCount = Number(options.providers);
/** How long the calls are measured alone, before the notification. */
const QUIET_MS = 5_000;
const DEADLINE_MS = 15 * 60_000;

const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? [options.executable] : [process.execPath, source];
const folder = mkdtempSync(join(options.folder, 'gatepost-bench-'));
const dataDir = join(folder, 'data');
const children: Bun.Subprocess[] = [];
process.once('exit', () => {
  stopAll();
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const credentials = (n: number) => `provider_code=${providerCode(n)}&auth_key=${AUTH_KEY}`;

function makeDatabase(): void {
  const identity = ['--name', 'bench', '--code', providerCode(1), '--key', AUTH_KEY];
  const add = [...program, 'provider', 'add', '--data', dataDir, '--plan', 'enterprise'];
  const made = Bun.spawnSync([...add, ...identity]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const startMs = performance.now();
  seedDevices(dataDir, { deviceCount, providerCount }, Date.now());
  console.log(`seeded ${deviceCount} devices in ${seconds(performance.now() - startMs)}`);
}

/** Starts the steady calls; the function returned ends them and gives what was measured. */
function startLoad(url: string) {
  const script = join(import.meta.dir, 'messaging-load.ts');
  const target = `${url}/api/list-install?${credentials(1)}&id=${providerCount}`;
  const load = Bun.spawn([process.execPath, script, target, options.rate], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  children.push(load);
  return async () => {
    load.stdin.write('end\n');
    await load.stdin.end();
    const printed = await new Response(load.stdout).text();
    return JSON.parse(printed) as {
      samples: { atMs: number; tookMs: number }[];
      failed: number;
    };
  };
}

function peakMemoryMib(pid: number): number {
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

const wallMs = () => performance.timeOrigin + performance.now();
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function send(url: string, provider: number): Promise<number> {
  const form = { title: 'Bench', body: 'One for everybody', type_push: 'optional', expire_days: 7 };
  const reply = await fetch(`${url}/remote/notification?${credentials(provider)}`, {
    method: 'POST',
    body: JSON.stringify({ PushNotificationForm: form, os: ['android'] }),
  });
  const answer = (await reply.json()) as { rc: number; msg: string; id: number };
  if (answer.rc !== 1) throw new Error(answer.msg);
  return answer.id;
}

/** Waits until it has ended; says when each status was first seen. */
async function follow(url: string, provider: number, id: number): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  const endMs = wallMs() + DEADLINE_MS;
  while (wallMs() < endMs) {
    const reply = await fetch(`${url}/remote/list?${credentials(provider)}&id=${id}`);
    const { data } = (await reply.json()) as { data: { status: number }[] };
    const status = data[0]?.status ?? 0;
    if (!seen.has(status)) seen.set(status, wallMs());
    if (status >= 100) return seen;
    await Bun.sleep(50);
  }
  throw new Error('it did not end in time');
}

function figures(name: string, samples: { tookMs: number }[]): void {
  const sorted = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
  const figure = (part: number) => `${at(part).toFixed(1)} ms`;
  const late = sorted.filter((tookMs) => tookMs > 25).length;
  console.log(
    `list-install ${name}: ${sorted.length} calls, p50 ${figure(0.5)}, p90 ${figure(0.9)}, ` +
      `p99 ${figure(0.99)}, max ${figure(1)}, over 25 ms: ${late}`,
  );
}

makeDatabase();
const { pid, url } = await startServer([...program, 'serve', '--port', '0', '--data', dataDir]);
const idleMib = peakMemoryMib(pid);
const endLoad = startLoad(url);
await Bun.sleep(QUIET_MS);
const sentMs = wallMs();
const providers = Array.from({ length: providerCount }, (_, i) => i + 1);
const ids = await Promise.all(providers.map((provider) => send(url, provider)));
const acceptedMs = wallMs();
const [seen = new Map<number, number>()] = await Promise.all(
  providers.map((provider, i) => follow(url, provider, ids[i] ?? 0)),
);
const endedMs = wallMs();
const walMib = statSync(join(dataDir, 'gatepost.db-wal')).size / 1024 / 1024;
const { samples, failed } = await endLoad();

const path = [...seen].map(([status, ms]) => `${status} at ${seconds(ms - sentMs)}`).join(', ');
console.log(`accepted in ${(acceptedMs - sentMs).toFixed(1)} ms; status ${path}`);
console.log(`from the call to the end: ${seconds(endedMs - sentMs)}`);
console.log(
  `peak memory ${peakMemoryMib(pid).toFixed(0)} MiB (${idleMib.toFixed(0)} before), WAL ${walMib.toFixed(0)} MiB`,
);
figures(
  'before',
  samples.filter(({ atMs }) => atMs > sentMs - QUIET_MS + 1000 && atMs < sentMs),
);
figures(
  'meanwhile',
  samples.filter(({ atMs }) => atMs >= sentMs && atMs < endedMs),
);
console.log(`calls that failed: ${failed}`);
process.exit(0);

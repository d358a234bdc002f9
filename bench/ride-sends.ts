/**
 * One general notification to many devices, with riding on and off in turn: how long it takes from
 * the call to its answer, and to status 100, and the processor time of the server. Prints one table
 * with ratios; writes nothing to the repository.
 *
 *   bun bench/ride-sends.ts --executable FILE [--before FILE] [--devices 100000] [--rounds 6]
 *                           [--store postgres]
 *
 * `--before` is an older executable that is measured in the same rounds.
 */

import { Database } from 'bun:sqlite';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQL } from 'bun';
import { median } from './load.ts';
import { AUTH_KEY, providerCode, seedDevices } from './messaging-seed.ts';
import { startPostgres } from './peers/postgres.ts';
import { startServer, stopAll } from './process.ts';
import { seedPostgres } from './seed-postgres.ts';
import * as shapes from './shape.ts';

const { values: options } = parseArgs({
  options: {
    executable: { type: 'string' },
    before: { type: 'string' },
    devices: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '6' },
    store: { type: 'string', default: 'sqlite' },
  },
});
const { executable } = options;
if (executable === undefined) throw new Error('--executable is missing');
const deviceCount = Number(options.devices);
const rounds = Number(options.rounds);
const isPostgres = options.store === 'postgres';
const DEADLINE_MS = 5 * 60_000;
const PORT = 5_499;

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** A database with its first provider's key, and runs statements while no server has it. */
interface Data {
  env: Record<string, string>;
  query: string;
  run(sql: string): Promise<unknown>;
}

async function makeData(program: string, name: string): Promise<Data> {
  if (isPostgres) {
    const shape = { name, providerCount: 1, linkCount: deviceCount, deviceCount, run: 1 };
    const url = await seedPostgres(program, PORT, shape, Date.now());
    const db = new SQL({ url, max: 1 });
    const credentials = { provider_code: shapes.providerCode(1), auth_key: shapes.authKey(1) };
    const query = String(new URLSearchParams(credentials));
    return { env: { GATEPOST_DATABASE_URL: url }, query, run: (sql) => db.unsafe(sql) };
  }
  const dataDir = join(folder, name);
  const add = ['provider', 'add', '--data', dataDir, '--plan', 'enterprise', '--name', 'bench'];
  const made = Bun.spawnSync([program, ...add, '--code', providerCode(1), '--key', AUTH_KEY]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  seedDevices(dataDir, { deviceCount, providerCount: 1 }, Date.now());
  return {
    env: { GATEPOST_DATA: dataDir },
    query: String(new URLSearchParams({ provider_code: providerCode(1), auth_key: AUTH_KEY })),
    run: async (sql) => {
      const db = new Database(join(dataDir, 'gatepost.db'));
      db.run(sql);
      db.close();
    },
  };
}

interface Measured {
  acceptedMs: number;
  endedMs: number;
  cpuMs: number;
}

async function measure(
  program: string,
  { env, query, run }: Data,
  more: Record<string, string>,
): Promise<Measured> {
  await run('UPDATE provider SET last_general_at_ms = NULL');
  const server = await startServer([program, 'serve', '--port', '0'], { ...env, ...more });
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).json();
  // The first call of a server pays for what is read once.
  await get(`/remote/list?${query}`);
  const cpuBefore = server.cpuSeconds();
  const startMs = performance.now();
  const form = { title: 'Bench', body: 'One for everybody', type_push: 'optional', expire_days: 7 };
  const body = JSON.stringify({ PushNotificationForm: form, os: ['android'] });
  const reply = await fetch(`${server.url}/remote/notification?${query}`, { method: 'POST', body });
  const { id, rc, msg } = (await reply.json()) as { id: number; rc: number; msg: string };
  if (rc !== 1) throw new Error(msg);
  const acceptedMs = performance.now() - startMs;
  for (;;) {
    const { data } = (await get(`/remote/list?${query}&id=${id}`)) as {
      data: { status: number }[];
    };
    if ((data[0]?.status ?? 0) >= 100) break;
    if (performance.now() - startMs > DEADLINE_MS) throw new Error('it did not end in time');
    await Bun.sleep(20);
  }
  const endedMs = performance.now() - startMs;
  const cpuMs = (server.cpuSeconds() - cpuBefore) * 1000;
  await server.stop();
  return { acceptedMs, endedMs, cpuMs };
}

const postgresFolder = join(folder, 'postgres');
mkdirSync(postgresFolder);
if (isPostgres) await startPostgres(postgresFolder, {}, PORT);
const variants: { name: string; program: string; ride: string | null }[] = [
  ...(options.before === undefined
    ? []
    : [{ name: 'before', program: options.before, ride: null }]),
  { name: 'off', program: executable, ride: 'off' },
  { name: 'on', program: executable, ride: 'on' },
];
// Each has data of its own: the ledger grows with each send.
const dataOf = new Map<string, Data>();
for (const { name, program } of variants) dataOf.set(name, await makeData(program, name));
const results = new Map<string, Measured[]>(variants.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round++) {
  // There and back: a later one finds a warmer machine and more rows.
  for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
    const env = variant.ride === null ? {} : { GATEPOST_GATE_RIDE: variant.ride };
    const data = dataOf.get(variant.name);
    if (data === undefined) throw new Error('there is no data');
    const measured = await measure(variant.program, data, env);
    // The first round pays for cold files.
    if (round > 0) results.get(variant.name)?.push(measured);
  }
}

console.log(`${deviceCount} devices on ${options.store}, medians of ${rounds - 1}`);
const off = results.get('off') ?? [];
for (const [name, all] of results) {
  const line = (['acceptedMs', 'endedMs', 'cpuMs'] as const).map((figure) => {
    const of = (some: readonly Measured[]) => median(some.map((one) => one[figure]));
    return `${figure} ${of(all).toFixed(1)} (${(of(all) / of(off)).toFixed(3)})`;
  });
  console.log(`${name.padEnd(7)} ${line.join('  ')}`);
}
process.exit(0);

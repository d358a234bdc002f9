/**
 * Targeted sends: a burst of commands by HWID of one provider, from many callers at once. Prints
 * how many were delivered each second from the first call to the last delivery, for two executables
 * in turns; then the same beside a send of another provider to all its devices, whose time is
 * printed too.
 *
 *   bun bench/targeted.ts --before FILE [--after dist/gatepost] [--store sqlite|postgres]
 *     [--disk-ms 1] [--sends 300] [--rounds 2] [--callers 32] [--bulky 20000]
 *
 * `--disk-ms` delays each fsync and fdatasync of the server by a library that is preloaded into it
 * (a file alone; PostgreSQL runs as it comes, with fsync on). Writes nothing to the repository.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQL } from 'bun';
import { freePort } from '../test/support/free-port.ts';
import { until } from '../test/support/until.ts';
import { fsyncUs } from './environment.ts';
import { startPostgres } from './peers/postgres.ts';
import { type Server, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    store: { type: 'string', default: 'sqlite' },
    'disk-ms': { type: 'string', default: '1' },
    sends: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '2' },
    callers: { type: 'string', default: '32' },
    bulky: { type: 'string', default: '20000' },
  },
});
const { before, after, store } = options;
const [sendCount, rounds, callerCount] = [options.sends, options.rounds, options.callers].map(
  Number,
) as [number, number, number];
const bulkyCount = Number(options.bulky);
const TARGETED_COUNT = 200;
const DEADLINE_MS = 60_000;
/** Pause between two looks at what was delivered, ms. */
const LOOK_MS = 5;

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** The environment of a server whose disk takes longer to sync. */
function slowDisk(): Record<string, string> {
  const library = join(folder, 'slow-fsync.so');
  const source = join(import.meta.dir, 'peers', 'slow-fsync.c');
  const pause = `-DPAUSE_NS=${Math.round(Number(options['disk-ms']) * 1e6)}`;
  const flags = ['-O2', '-Wall', '-Werror', '-shared', '-fPIC', pause];
  const build = Bun.spawnSync(['cc', ...flags, '-o', library, source, '-ldl']);
  if (build.exitCode !== 0) throw new Error(build.stderr.toString());
  return { LD_PRELOAD: library };
}

interface Bench {
  server: Server;
  db: SQL;
  /** Query of each provider's calls. */
  targeted: string;
  bulky: string;
}

/** Devices of a provider, a hundred on each link. */
async function seed(db: SQL, code: string, count: number): Promise<void> {
  const numbers = `WITH RECURSIVE x (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM x WHERE n < `;
  const provider = `(SELECT id FROM provider WHERE code = '${code}')`;
  for (const statement of [
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms) ${numbers} ${count - 1})
     SELECT '${code}-' || n, 'android', '', '', '', '', 0, 0 FROM x`,
    `INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
     ${numbers} ${Math.ceil(count / 100) - 1})
     SELECT ${provider}, '${code}' || (1000 + n), 100, 10, 0 FROM x`,
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       after_recipient_id) ${numbers} ${count - 1})
     SELECT i.id, d.id, i.provider_id, 0, 0
     FROM x JOIN device d ON d.hwid = '${code}-' || n
       JOIN install i ON i.install_code = '${code}' || (1000 + n / 100)`,
    `UPDATE device_provider SET os = 'android' WHERE os = ''`,
  ]) {
    await db.unsafe(statement);
  }
}

async function start(executable: string, name: string): Promise<Bench> {
  const dataDir = join(folder, name);
  const env: Record<string, string> = { GATEPOST_SENDS_PER_MINUTE_MAX: '1000000' };
  let url = `sqlite://${join(dataDir, 'gatepost.db')}`;
  if (store === 'postgres') {
    const place = join(folder, `${name}-postgres`);
    mkdirSync(place);
    const port = freePort();
    await startPostgres(place, {}, port);
    url = `postgres://bench@127.0.0.1:${port}/postgres`;
    env['GATEPOST_DATABASE_URL'] = url;
  }
  const all = { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none', ...env };
  const add = (code: string) => {
    const words = ['provider', 'add', '--name', code, '--code', code, '--plan', 'enterprise'];
    const made = Bun.spawnSync([executable, ...words, '--json', '--data', dataDir], { env: all });
    if (made.exitCode !== 0) throw new Error(made.stderr.toString());
    const { auth_key } = JSON.parse(made.stdout.toString());
    return new URLSearchParams({ provider_code: code, auth_key }).toString();
  };
  const disk = store === 'sqlite' ? slowDisk() : {};
  const serve = ['serve', '--port', '0', '--data', dataDir];
  const server = await startServer([executable, ...serve], { ...env, ...disk });
  const [targeted, bulky] = [add('TARGET01'), add('BULKY001')];
  const db = new SQL(url);
  await seed(db, 'TARGET01', TARGETED_COUNT);
  await seed(db, 'BULKY001', bulkyCount);
  return { server, db, targeted, bulky };
}

async function order(url: string, query: string, to: object): Promise<number> {
  const body = JSON.stringify({ action_type: 'update-subscription', ...to });
  const answer = await fetch(`${url}/remote/command?${query}`, { method: 'POST', body });
  const { rc, msg, id } = (await answer.json()) as { rc: number; msg: string; id: number };
  if (rc !== 1) throw new Error(msg);
  return id;
}

const ENDED = `SELECT count(*) AS count FROM distribution WHERE status >= 100
  AND provider_id = (SELECT id FROM provider WHERE code = 'TARGET01')`;

interface Figures {
  /** Sends that were delivered each second. */
  delivered: number;
  /** Time from the last answer until all were delivered, s. */
  queued: number;
  /** Time that the bulky send took, s; NaN: there was none. */
  bulky: number;
}

async function measure(
  { server, db, targeted, bulky }: Bench,
  isBeside: boolean,
): Promise<Figures> {
  const ended = async () => Number((await db.unsafe(ENDED))[0].count);
  const known = await ended();
  let begunCount = 0;
  const beganMs = performance.now();
  let bulkyMs = Number.NaN;
  const large = isBeside
    ? order(server.url, bulky, { os: ['android'] }).then((id) =>
        until(
          'the bulky send',
          async () => {
            await Bun.sleep(LOOK_MS);
            const found = await db.unsafe(`SELECT status FROM distribution WHERE id = ${id}`);
            if (Number(found[0].status) < 100) return false;
            bulkyMs = performance.now() - beganMs;
            return true;
          },
          DEADLINE_MS,
        ),
      )
    : null;
  await Promise.all(
    Array.from({ length: callerCount }, async () => {
      while (begunCount < sendCount) {
        const hwid = `TARGET01-${begunCount++ % TARGETED_COUNT}`;
        await order(server.url, targeted, { hwid });
      }
    }),
  );
  const answeredMs = performance.now();
  const isOver = async () => {
    await Bun.sleep(LOOK_MS);
    return (await ended()) - known === sendCount;
  };
  await until('all are delivered', isOver, DEADLINE_MS);
  const endMs = performance.now();
  await large;
  return {
    delivered: sendCount / ((endMs - beganMs) / 1_000),
    queued: (endMs - answeredMs) / 1_000,
    bulky: bulkyMs / 1_000,
  };
}

if (before === undefined) {
  console.error('--before FILE is missing: the executable to compare with');
  process.exit(2);
}
const disk = store === 'sqlite' ? `, each sync ${options['disk-ms']} ms longer` : '';
console.log(`${store}: a write of 4 KiB with fsync takes ${Math.round(fsyncUs(folder))} us${disk}`);
const benches = [
  { name: 'before', bench: await start(before, 'before') },
  { name: 'after', bench: await start(after, 'after') },
];
const best: Record<string, number> = {};
for (let round = 1; round <= rounds; round++) {
  for (const isBeside of [false, true]) {
    for (const { name, bench } of benches) {
      const { delivered, queued, bulky } = await measure(bench, isBeside);
      const more = isBeside ? `; ${bulkyCount} devices of another in ${bulky.toFixed(1)} s` : '';
      console.log(
        `${name}: ${delivered.toFixed(0)} delivered a second,`,
        `the last ${queued.toFixed(2)} s after it was accepted${more}`,
      );
      const key = `${name} ${isBeside ? 'beside' : 'alone'}`;
      best[key] = Math.max(best[key] ?? 0, delivered);
    }
  }
}
for (const how of ['alone', 'beside']) {
  const ratio = (best[`after ${how}`] ?? 0) / (best[`before ${how}`] ?? 0);
  console.log(`${how}: ${ratio.toFixed(1)} times as many delivered a second`);
}
for (const { bench } of benches) {
  await bench.db.close();
  await bench.server.stop();
}
process.exit(0);

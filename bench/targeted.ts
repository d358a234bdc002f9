/** Targeted sends: a burst of commands by HWID of one provider, from many callers at once. */

import { join } from 'node:path';
import { SQL } from 'bun';
import { until } from '../test/support/until.ts';
import { ask, type Bench, type Case, forAll, who } from './driver.ts';
import { fsyncUs } from './environment.ts';
import { follow } from './messaging.ts';
import { slowDisk } from './peers/slow-disk.ts';
import type { Server } from './process.ts';
import { providerCode } from './shape.ts';

const TARGETED_COUNT = 200;
const DEADLINE_MS = 60_000;
/** Pause between two looks at what was delivered, ms. */
const LOOK_MS = 5;
const [TARGETED, BULKY] = [1, 2];

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

interface Started {
  name: string;
  server: Server;
  db: SQL;
  /** The most that were delivered each second, alone and beside. */
  best: { alone: number; beside: number };
}

async function start(bench: Bench, name: string, executable: string): Promise<Started> {
  const dataDir = bench.place(name);
  const isFile = bench.text('store') === 'sqlite';
  const url = isFile
    ? `sqlite://${join(dataDir, 'gatepost.db')}`
    : (await bench.postgres(name)).url;
  const env: Record<string, string> = isFile ? {} : { GATEPOST_DATABASE_URL: url };
  for (const n of [TARGETED, BULKY]) bench.addProvider(dataDir, n, env, executable);
  // PostgreSQL runs as it comes, with fsync on.
  const disk = isFile ? slowDisk(bench.folder, bench.number('disk-ms')) : {};
  const db = new SQL(url);
  await seed(db, providerCode(TARGETED), TARGETED_COUNT);
  await seed(db, providerCode(BULKY), bench.number('bulky'));
  const server = await bench.serve(dataDir, { ...env, ...disk }, executable);
  return { name, server, db, best: { alone: 0, beside: 0 } };
}

const order = ({ url }: Server, provider: number, to: object) =>
  ask(`${url}/remote/command?${who(provider)}`, { action_type: 'update-subscription', ...to });

const ENDED = `SELECT count(*) AS count FROM distribution WHERE status >= 100
  AND provider_id = (SELECT id FROM provider WHERE code = '${providerCode(TARGETED)}')`;

/** Returns how many were delivered each second from the first call to the last delivery. */
async function measure(bench: Bench, { name, server, db }: Started, isBeside: boolean) {
  const sendCount = bench.number('sends');
  const ended = async () => Number((await db.unsafe(ENDED))[0].count);
  const known = await ended();
  const beganMs = performance.now();
  let more = '';
  const large = isBeside
    ? order(server, BULKY, { os: ['android'] }).then(async ({ id }) => {
        await follow(server, id, BULKY, DEADLINE_MS);
        const took = ((performance.now() - beganMs) / 1_000).toFixed(1);
        more = `; ${bench.text('bulky')} devices of another in ${took} s`;
      })
    : null;
  await forAll(0, sendCount, bench.number('callers'), (n) =>
    order(server, TARGETED, { hwid: `${providerCode(TARGETED)}-${n % TARGETED_COUNT}` }),
  );
  const answeredMs = performance.now();
  const isOver = async () => {
    await Bun.sleep(LOOK_MS);
    return (await ended()) - known === sendCount;
  };
  await until('all are delivered', isOver, DEADLINE_MS);
  const endMs = performance.now();
  await large;
  const perSecond = sendCount / ((endMs - beganMs) / 1_000);
  const queued = ((endMs - answeredMs) / 1_000).toFixed(2);
  console.log(
    `${name}: ${perSecond.toFixed(0)} delivered a second, the last ${queued} s after it was accepted${more}`,
  );
  return perSecond;
}

export const targeted: Case = {
  isSpread: true,
  about:
    'commands by HWID from many callers, delivered a second with two executables in turns, alone and beside a send of another provider to all its devices; --disk-ms delays each fsync of the file',
  options: {
    before: '',
    store: 'sqlite',
    'disk-ms': '1',
    sends: '300',
    rounds: '2',
    callers: '32',
    bulky: '20000',
  },
  needs: ['cc'],
  run: async (bench) => {
    if (bench.text('before') === '') throw new Error('--before FILE is missing');
    console.log(`a write of 4 KiB with fsync takes ${Math.round(fsyncUs(bench.folder))} us`);
    const before = await start(bench, 'before', bench.text('before'));
    const after = await start(bench, 'after', bench.executable);
    for (let round = 0; round < bench.number('rounds'); round++) {
      for (const how of ['alone', 'beside'] as const) {
        for (const each of [before, after]) {
          const perSecond = await measure(bench, each, how === 'beside');
          each.best[how] = Math.max(each.best[how], perSecond);
        }
      }
    }
    for (const how of ['alone', 'beside'] as const) {
      const ratio = (after.best[how] / before.best[how]).toFixed(1);
      console.log(`${how}: ${ratio} times as many delivered a second`);
    }
    for (const { db, server } of [before, after]) {
      await db.close();
      await server.stop();
    }
    return undefined;
  },
};

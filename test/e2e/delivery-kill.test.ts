/**
 * A server is killed with SIGKILL again and again, in every status of a distribution, while sends,
 * cancellations, fetches and acknowledgements run. Afterwards every accepted distribution has ended
 * or waits for its time, every recipient is accounted for, and what was cancelled reached nobody.
 *
 * DELIVERY_KILLS=200 bun test test/e2e/delivery-kill.test.ts runs it longer, DELIVERY_SEED=n
 * otherwise.
 */

import { expect, test } from 'bun:test';
import { invariantProblems } from '../fuzz/invariants.ts';
import { call } from '../support/app.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { bindDevices, makeDevices, putOnLinks } from '../support/delivery.ts';
import { DOMAIN_HASH, LiveDevice, Traffic } from '../support/delivery-traffic.ts';
import { STORE } from '../support/place.ts';
import {
  addProviderByCommand,
  lookedAt,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { Random } from '../support/random.ts';
import { IS_LONG, isAskedFor, scaleOf } from '../support/scale.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const KILLS = scaleOf('DELIVERY_KILLS', { short: 8, long: 40 });
const SEED = Number(process.env['DELIVERY_SEED'] ?? 5);
const PROVIDERS = 2;
/** So many that writing recipients and sending take several steps. */
const DEVICES_PER_PROVIDER = STORE === 'sqlite' || IS_LONG ? 20_000 : 5_000;
const LIVE_PER_PROVIDER = 3;
const STATUSES = [10, 20, 30, 5, 6, 40, 100, 130];

useProcesses((6 + KILLS / 5) * PATIENCE_MS);

function seedMany(db: Beside, provider: { id: number }): void {
  const hwids = Array.from({ length: DEVICES_PER_PROVIDER }, (_, n) => `${provider.id}-${n}`);
  const devices = makeDevices({ db }, hwids);
  putOnLinks({ db }, provider, devices.slice(0, DEVICES_PER_PROVIDER / 2));
  bindDevices({ db }, provider, devices.slice(DEVICES_PER_PROVIDER / 2));
}

async function makeTraffic(dataDir: string, random: Random): Promise<Traffic> {
  const credentials = [];
  for (let n = 0; n < PROVIDERS; n++) {
    credentials.push(await addProviderByCommand(dataDir, '--plan', 'enterprise'));
  }
  const db = besideOf(await lookedAt(dataDir));
  for (let id = 1; id <= PROVIDERS; id++) seedMany(db, { id });
  db.close();

  const server = await startServe({ dataDir });
  const devices = [];
  for (const [provider, { code }] of credentials.entries()) {
    const query = { domain_hash: DOMAIN_HASH };
    const bound = await call(server, '/api/add-domain', credentials[provider] ?? null, query);
    expect(bound.json).toMatchObject({ rc: 1 });
    for (let n = 0; n < LIVE_PER_PROVIDER; n++) {
      const device = new LiveDevice(`live-${provider}-${n}`, provider);
      const facts = { hwid: device.hwid, os: 'android' };
      const body = JSON.stringify({ ...facts, provider_code: code, domain_hash: DOMAIN_HASH });
      const registered = await call(server, '/device/register', null, {}, { method: 'POST', body });
      expect(registered.json).toMatchObject({ rc: 1 });
      device.token = registered.json.device_token;
      devices.push(device);
    }
  }
  await server.stop();
  return new Traffic(credentials, devices, random);
}

/** Kills the server when a distribution has the status, or after so many answers. */
async function killWhen(
  server: ServerProcess,
  db: Beside,
  status: number,
  isEnough: () => boolean,
): Promise<void> {
  const look = db.query('SELECT 1 FROM distribution WHERE status = ? LIMIT 1');
  while (!isEnough() && look.get(status) === null) await new Promise(setImmediate);
  await server.stop('SIGKILL');
}

/** What the hour of a dead machine does: leases end, schedules become due. */
function letTimePass(db: Beside): void {
  db.run('UPDATE distribution SET lease_until_ms = lease_until_ms - 3600000');
  db.run(
    `UPDATE distribution SET due_at_ms = due_at_ms - 3600000
     WHERE status = 30 AND id % 2 = 1 AND id IN
       (SELECT id FROM distribution WHERE status = 30 ORDER BY due_at_ms LIMIT 20)`,
  );
}

const histogram = (db: Beside) =>
  db
    .query<{ status: number; count: number }, []>(
      'SELECT status, count(*) AS count FROM distribution GROUP BY status',
    )
    .all();

test(`${KILLS} kills in every status`, async () => {
  const random = new Random(SEED);
  const dataDir = temporaryFolder();
  const traffic = await makeTraffic(dataDir, random);
  const db = besideOf(await lookedAt(dataDir));
  const killedIn = new Map<number, number>();

  for (let kill = 0; kill < KILLS; kill++) {
    const server = await startServe({ dataDir });
    let isOver = false;
    const running = traffic.run(server.url, () => isOver);
    const enough = traffic.answers + random.int(5, 150);
    await killWhen(server, db, STATUSES[kill % STATUSES.length] ?? 0, () => {
      return traffic.answers >= enough;
    });
    isOver = true;
    await running;
    for (const { status } of histogram(db)) {
      killedIn.set(status, (killedIn.get(status) ?? 0) + 1);
    }
    // Loading is taken over by a worker that finds the lease of a dead one ended.
    if (STATUSES[(kill + 1) % STATUSES.length] === 6 || random.chance(0.5)) letTimePass(db);
  }

  const last = await startServe({ dataDir });
  // What is due is taken from its schedule yet: it would come after the devices have fetched.
  const open = db.query<unknown, [number]>(
    `SELECT 1 FROM distribution
     WHERE status IN (5, 6, 10, 20, 40) OR (status = 30 AND due_at_ms <= ?)`,
  );
  const hasEnded = () => open.get(Date.now()) === null;
  await until('every distribution to end or to wait for its time', hasEnded, 3 * PATIENCE_MS);
  for (const device of traffic.devices) await fetchAll(traffic, last.url, device);
  await last.stop();

  expect(traffic.problems).toEqual([]);
  checkDistributions(traffic, db);
  checkDevices(traffic, db);
  expect(invariantProblems(await lookedAt(dataDir))).toEqual([]);
  if (isAskedFor('DELIVERY_KILLS')) {
    console.log({
      accepted: traffic.sent.size,
      cancelled: traffic.cancelled.size,
      answers: traffic.answers,
      lost: traffic.lost,
      'kills while a distribution was in': Object.fromEntries(killedIn),
    });
  }
  db.close();
});

/** Until nothing is left but what the device never acknowledges. */
async function fetchAll(traffic: Traffic, url: string, device: LiveDevice): Promise<void> {
  await until('an empty inbox', async () => (await traffic.fetch(url, device, 0)) === 0);
}

function checkDistributions(traffic: Traffic, db: Beside): void {
  const statusOf = db.query<{ status: number }, [number]>(
    'SELECT status FROM distribution WHERE id = ?',
  );
  for (const [id, sent] of traffic.sent) {
    const status = statusOf.get(id)?.status;
    if (traffic.cancelled.has(id)) expect([id, status]).toEqual([id, 130]);
    else if (traffic.maybeCancelled.has(id)) expect([30, 100, 130]).toContain(status ?? 0);
    else
      expect([id, sent.isScheduled ? [30, 100] : [100]]).toEqual([
        id,
        expect.arrayContaining([status]),
      ]);
  }
  const wrong = db
    .query(
      `SELECT * FROM (
         SELECT x.id, x.status, recipient_count, sent_count, failed_count,
           count(r.id) AS made, count(r.sent_at_ms) AS sent,
           CASE WHEN target_os IS NULL THEN 1
             ELSE ${DEVICES_PER_PROVIDER + LIVE_PER_PROVIDER} END AS expected
         FROM distribution x LEFT JOIN recipient r ON r.distribution_id = x.id
         GROUP BY x.id) counted
       WHERE CASE WHEN status = 100
         THEN made <> expected OR sent <> expected OR recipient_count <> expected
           OR sent_count <> expected OR failed_count <> 0
         ELSE made <> 0 END`,
    )
    .all();
  expect(wrong).toEqual([]);
}

function checkDevices(traffic: Traffic, db: Beside): void {
  const sent = db.query<{ id: number; status: number }, []>('SELECT id, status FROM distribution');
  const statuses = new Map(sent.all().map(({ id, status }) => [id, status]));
  const received = db.query<{ at: number | null }, [number, string]>(
    `SELECT executed_at_ms AS at FROM recipient r JOIN device d ON d.id = r.device_id
     WHERE distribution_id = ? AND hwid = ?`,
  );
  for (const device of traffic.devices) {
    for (const [id, { marker }] of device.got) {
      expect([id, statuses.get(id)]).toEqual([id, 100]);
      expect(traffic.cancelled.has(id)).toBe(false);
      const known = traffic.sent.get(id);
      if (known) expect(marker).toBe(known.marker);
    }
    for (const id of device.acknowledged) expect(received.get(id, device.hwid)?.at).toBeNumber();
    for (const [id, { provider, hwids }] of traffic.sent) {
      const isFor = provider === device.provider && (hwids?.includes(device.hwid) ?? true);
      const isDue = isFor && statuses.get(id) === 100;
      expect([id, device.hwid, device.got.has(id)]).toEqual([id, device.hwid, isDue]);
    }
  }
}

/** What rides on PostgreSQL: sends, blocks, entries, registrations and stamps at two nodes. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { RideRules } from '../../src/core/port/ride.ts';
import type { Store } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { Random } from '../support/random.ts';
import {
  addDoor,
  addLink,
  CLOCK,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
} from './contract/fixture.ts';
import {
  claim,
  LEDGER_MAX,
  lease,
  loadAll,
  onLink,
  register,
  send,
  sendAll,
  to,
  WAITING_MAX,
} from './contract/message-fixture.ts';

const RULES: RideRules = { level: 'on', hours: 10 };
const STEPS = Number(process.env['RIDE_STEPS'] ?? 40);
const DAY_MS = 86_400_000;
/** The status that a worker without trouble gives it next. */
const NEXT: Readonly<Record<number, number>> = { 10: 20, 20: 5, 5: 40, 6: 40, 40: 100 };

describePostgres('rides on PostgreSQL', () => {
  let database: TestDatabase;
  let pair: Store[];

  const open = () => openPlace({ dataDir: '', databaseUrl: database.url }, { clock: CLOCK });
  beforeEach(async () => {
    database = await freshDatabase();
    pair = [await open(), await open()];
  });
  afterEach(async () => {
    await Promise.all(pair.map((node) => node.close()));
    await database.drop();
  });

  /** Carries on what a node may claim; another takes it over, or it is blocked meanwhile. */
  async function work(node: Store, owner: string): Promise<void> {
    for (const { id, status: first } of await claim(node, owner, NOW_MS)) {
      const hold = lease(id, owner, NOW_MS);
      for (let status = first; status < 100; ) {
        try {
          if (status === 5 || status === 6) await loadAll(node, hold);
          if (status === 40) await sendAll(node, hold);
        } catch (fault) {
          if (!/lost while/.test(String(fault))) throw fault;
          break;
        }
        const next = NEXT[status] ?? 100;
        if (!(await node.moveDistribution(hold, status, next, RULES))) break;
        status = next;
      }
    }
  }

  test('nothing of all that happens to rides deadlocks', async () => {
    const random = new Random(11);
    const { providerId, installId } = await addDoor(pair[0] as Store);
    await addLink(pair[0] as Store, providerId, { installCode: OTHER_CODE, installLimit: 100 });
    await pair[0]?.updateLink(providerId, installId, { installLimit: 100 }, ACT);
    const hwids = Array.from({ length: 12 }, (_, n) => `hwid-${n}`);
    for (const hwid of hwids) await knock(pair[0] as Store, hwid);
    const some = () => [...new Set([random.pick(hwids), random.pick(hwids), random.pick(hwids)])];
    const code = () => random.pick([CODE, OTHER_CODE]);
    let last = 0;
    const sent = async (id: Promise<number>) => {
      last = Math.max(last, await id);
    };
    const settings = {
      notificationType: 20 as const,
      payload: JSON.stringify({ action_type: 'set-settings', settings: { 'ping-type': 'tcp' } }),
    };
    const calls: ((node: Store, owner: string) => Promise<unknown>)[] = [
      (node) => sent(send(node, providerId, to(...some()))),
      (node) => sent(send(node, providerId, { ...to(...some()), ...settings })),
      (node) => sent(send(node, providerId, { ...settings, targetOs: 'android,ios' })),
      (node) => sent(send(node, providerId, { targetOs: 'android' })),
      (node, owner) => work(node, owner),
      (node, owner) => work(node, owner),
      (node, owner) =>
        node.deliverNamed(
          { owner, nowMs: NOW_MS, leaseMs: 5_000 },
          {
            afterChecking: () => 5,
            ledgerRowsMax: LEDGER_MAX,
            waitingMax: WAITING_MAX,
            gateways: [],
            rides: RULES,
          },
        ),
      (node) =>
        node.blockDistribution(random.int(1, last + 1), [10, 20, 30, 5, 6, 40], NOW_MS + 1, ACT),
      (node) => knock(node, random.pick(hwids), code(), FACTS, NOW_MS + random.int(0, 90) * DAY_MS),
      (node) => knock(node, `new-${random.int(0, 99)}`, code()),
      (node) =>
        register(node, random.pick(hwids), onLink(code())).catch((fault) => {
          if (/deadlock/i.test(String(fault))) throw fault;
        }),
      (node) =>
        node.freeSlot(providerId, { installId, installCode: null }, random.pick(hwids), ACT),
      (node) => node.forgetDevice(random.pick(hwids), ACT),
      async (node) => {
        const ids = await Promise.all(
          some().map(async (hwid) => node.findSlot({ installCode: CODE, hwid, domainHash: HASH })),
        );
        const found = ids.flatMap((door) =>
          typeof door === 'string' ? [] : (door.link.rides?.deviceId ?? []),
        );
        node.noteCarried(
          found.flatMap((deviceId) =>
            [last, last - 1, last - 2].map((distributionId) => ({
              distributionId,
              deviceId,
              hwid: 'x',
              atMs: NOW_MS,
              carried: 'x: announce',
            })),
          ),
        );
        await node.saveFigures();
      },
      (node) => node.updateProvider('Provide1', { rideDesktop: random.int(0, 1) as 0 | 1 }, ACT),
      (node) => node.forgetRides(NOW_MS + random.int(0, 20) * 3_600_000),
      (node) => node.expireRecipients(NOW_MS + 40 * DAY_MS),
      (node) => node.pruneLedger(NOW_MS + 80 * DAY_MS, NOW_MS + 80 * DAY_MS, null),
      (node) => node.forgetDistributions(NOW_MS + 80 * DAY_MS),
      async (node) => {
        const rides = await node.findRides(providerId);
        expect(new Set(rides.rides.map(({ os, part }) => `${os} ${part}`)).size).toBe(
          rides.rides.length,
        );
      },
    ];
    const caller = async (node: Store, owner: string) => {
      for (let i = 0; i < STEPS; i++) await random.pick(calls)(node, owner);
    };
    await Promise.all(
      pair.flatMap((node, n) => Array.from({ length: 6 }, (_, i) => caller(node, `${n} ${i}`))),
    );
    // A session reports its deadlocks at its end.
    await Promise.all(pair.splice(0).map((node) => node.close()));
    const [row] = await database.sql.unsafe(
      `SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = '${database.name}'`,
    );
    expect(row.count).toBe(0);
  });
});

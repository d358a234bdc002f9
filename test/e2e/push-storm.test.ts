/**
 * Many messages through gateways that fail: each reaches its device, and the books agree.
 *
 * PUSH_COUNT=100000 bun test test/e2e/push-storm.test.ts sends so many through FCM and APNs each.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { openBeside } from '../support/database.ts';
import { notify } from '../support/messaging.ts';
import { addProviderByCommand, startServe, temporaryFolder } from '../support/process.ts';
import { addPushDevices, pushToken } from '../support/push-devices.ts';
import { ended, expectNoViolations } from '../support/reach.ts';
import { scaleOf } from '../support/scale.ts';
import { useProcesses } from '../support/use-processes.ts';

const COUNT = scaleOf('PUSH_COUNT', { short: 1_500, long: 10_000 });
const isBig = COUNT > 10_000;
/** A gateway that fails is asked again after seconds, some pushes several times. */
const STORM_MS = 60_000 + COUNT * 2;

useProcesses(2 * STORM_MS);

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

test(`${COUNT} messages through each of FCM and APNs that fail and are reset`, async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const db = openBeside(dataDir);
  addPushDevices(db, { id: 1 }, 'fcm', COUNT);
  addPushDevices(db, { id: 1 }, 'apns', COUNT);
  const server = await startServe({ dataDir, env: reachEnv(servers) });
  const some = [
    { share: 0.02, misdeed: { kind: 'refuse', name: '429', retryAfter: '1' } as const },
    { share: 0.02, misdeed: { kind: 'refuse', name: '503' } as const },
    // FCM can answer 503 after delivering.
    { share: 0.002, misdeed: { kind: 'refuse', name: '503', delivers: true } as const },
  ];
  for (const name of ['fcm', 'apns'] as const) {
    await servers.keepVisits(name, 0);
    await servers.behave(name, { some, resetEveryMs: isBig ? 1_000 : 400 });
  }
  const id = await notify(server, by, 'Hello', { os: ['android', 'ios'] });
  expect(await ended(server, by, id, STORM_MS)).toBe(100);

  for (const gateway of ['fcm', 'apns'] as const) {
    const got = await servers.deliveries(gateway);
    const expected = Array.from({ length: COUNT }, (_, n) => pushToken(gateway, n));
    // None is lost, and nobody has copies with two ids.
    expect(got.map(([to]) => to).sort()).toEqual(expected);
    expect(new Set(got.map(([, of]) => of.split(' ').at(-1)))).toEqual(new Set([String(id)]));
    const { deliveries, answers, connections } = await servers.totals(gateway);
    if (isBig) {
      console.log({ gateway, deliveries, repeats: deliveries - COUNT, answers, connections });
      expect((deliveries - COUNT) / COUNT).toBeLessThan(0.02);
    }
    await servers.behave(gateway, {});
    await servers.keepVisits(gateway, 2_000);
  }
  const ledger = db
    .query('SELECT push_state, count(*) AS count FROM recipient GROUP BY push_state')
    .all();
  expect(ledger).toEqual([{ push_state: 2, count: 2 * COUNT }]);
  expect(db.query('SELECT count(*) AS count FROM outbox').get()).toEqual({ count: 0 });
  db.close();
  await expectNoViolations(servers);
});

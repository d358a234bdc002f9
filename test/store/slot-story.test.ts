/** The ends of slots that make the story of a link: what they tell, and their bounds. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { prune } from '../../src/jobs/keep.ts';
import { ACT } from '../support/actor.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  removeProvider,
} from './contract/fixture.ts';
import { holderOf } from './contract/message-fixture.ts';

// Slots that ended stay for 90 days, whatever is set for the rest.
const DAYS = { ledgerDays: 365, distributionDays: 365, deviceDays: 365 };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function ask(sql: string): unknown[] {
  const db = besideOf(app);
  try {
    return db.query(sql).all();
  } finally {
    db.close();
  }
}

const story = (installId: number) =>
  ask(`SELECT d.hwid, e.registered_at_ms AS registered, e.last_seen_at_ms AS seen,
      e.ended_at_ms AS ended, e.why, e.actor, n.hwid AS newcomer
    FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
      LEFT JOIN device n ON n.id = e.for_device_id
    WHERE e.install_id = ${installId} ORDER BY e.id`);

const countOf = (providerId: number) =>
  ask(`SELECT slot_end_count AS told,
      (SELECT count(*) FROM slot_end WHERE provider_id = p.id) AS counted
    FROM provider p WHERE id = ${providerId}`)[0] as { told: number; counted: number };

test('each end says whose slot it was, why it ended, who ended it and for whom', async () => {
  const { store } = app.core;
  const { providerId, installId } = await addDoor(store);
  const policy = { inactiveDays: 30, whenFull: 'replace-oldest', coolDownHours: 1 } as const;
  await store.updateLink(providerId, installId, policy, ACT);
  const at = (hwid: string, ms: number) => knock(store, hwid, CODE, FACTS, ms);
  await at('a', NOW_MS);
  await at('b', NOW_MS + 1);
  await at('a', NOW_MS + 2);
  await at('c', NOW_MS + 3);
  const later = NOW_MS + 40 * DAY_MS;
  await at('c', later);
  await at('d', later + 1);
  const selector = { installCode: CODE, installId: null };
  await store.freeSlot(providerId, selector, 'c', { ...ACT, atMs: later + 2 });
  await store.freeSlot(providerId, selector, 'c', { ...ACT, atMs: later + 3 });
  await store.forgetDevice('d', { ...ACT, atMs: later + 4 });
  expect(story(installId)).toEqual([
    {
      hwid: 'b',
      registered: NOW_MS + 1,
      seen: NOW_MS + 1,
      ended: NOW_MS + 3,
      why: 'replaced',
      actor: 'device',
      newcomer: 'c',
    },
    {
      hwid: 'a',
      registered: NOW_MS,
      seen: NOW_MS + 2,
      ended: later + 1,
      // Who it was for is forgotten with the device.
      why: 'inactive',
      actor: 'device',
      newcomer: null,
    },
    {
      hwid: 'c',
      registered: NOW_MS + 3,
      seen: later,
      ended: later + 2,
      why: 'deleted',
      actor: 'tester',
      newcomer: null,
    },
    {
      hwid: null,
      registered: later + 1,
      seen: later + 1,
      ended: later + 4,
      why: 'forgotten',
      actor: 'tester',
      newcomer: null,
    },
  ]);

  await prune(app.core, DAYS, NOW_MS + 3 + 90 * DAY_MS);
  expect(story(installId)).toHaveLength(4);
  await prune(app.core, DAYS, NOW_MS + 4 + 90 * DAY_MS);
  expect(story(installId)).toHaveLength(3);
  expect(countOf(providerId)).toEqual({ told: 3, counted: 3 });
  await removeProvider(store, 'Provide1');
  expect(story(installId)).toEqual([]);
});

test('a link remembers its newest 100 ends, a provider 100,000', async () => {
  const { store } = app.core;
  const { providerId, installId } = await addDoor(store, 'Provide2', OTHER_CODE);
  const selector = { installCode: OTHER_CODE, installId: null };
  const free = async (ms: number) => {
    await knock(store, 'a', OTHER_CODE, FACTS, ms);
    await store.freeSlot(providerId, selector, 'a', { ...ACT, atMs: ms });
  };
  for (let n = 1; n <= 103; n++) await free(NOW_MS + n);
  const ended = (story(installId) as { ended: number }[]).map(({ ended }) => ended - NOW_MS);
  expect([ended.length, ended[0], ended.at(-1)]).toEqual([100, 4, 103]);
  expect(countOf(providerId)).toEqual({ told: 100, counted: 100 });

  // Another link of the provider has the rest, older and newer than those.
  const db = besideOf(app);
  db.run(`INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
    VALUES (${providerId}, 'LinkCode0009', 1, 10, 0)`);
  db.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99980)
    INSERT INTO slot_end (install_id, provider_id, registered_at_ms, last_seen_at_ms,
      ended_at_ms, why, actor)
    SELECT (SELECT id FROM install WHERE install_code = 'LinkCode0009'), ${providerId}, 0, 0, i,
      'deleted', 'x' FROM n`);
  db.run(`DELETE FROM slot_end WHERE install_id = ${installId} AND ended_at_ms > ${NOW_MS + 13}`);
  db.close();
  expect(countOf(providerId).told).toBe(99_990);
  for (let n = 1; n <= 15; n++) await free(NOW_MS + 1_000 + n);
  expect(countOf(providerId)).toEqual({ told: 100_000, counted: 100_000 });
  // The oldest of the provider were this link's.
  expect(story(installId)).toHaveLength(10 - 5 + 15);
  expect(story(installId)[0]).toMatchObject({ ended: NOW_MS + 9 });
});

test('a device that comes back while it is forgotten is forgotten once more', async () => {
  const { store } = app.core;
  const { providerId, installId } = await addDoor(store, 'Provide3', 'LinkCode0003');
  const counted = async () => {
    await store.saveFigures();
    const [day] = await store.listFigures(providerId, 0, Number.MAX_SAFE_INTEGER);
    return { admitted: day?.admitted ?? 0, freed: day?.freed ?? 0 };
  };
  for (let turns = 0; turns < 20; turns++) {
    const take = () => knock(store, 'z', 'LinkCode0003', FACTS, NOW_MS);
    await take();
    const forgetting = store.forgetDevice('z', ACT);
    // Whatever step is next by then.
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    await take();
    expect(await forgetting).toBe('ok');
    const held = ask(`SELECT 1 FROM install_device WHERE install_id = ${installId}`).length;
    const { admitted, freed } = await counted();
    expect(freed).toBe(admitted - held);
    expect(story(installId)).toHaveLength(freed);
  }
});

test('nothing reads the messages of a device from the first step of forgetting it', async () => {
  const { store } = app.core;
  const { providerId } = await addDoor(store, 'Provide4', 'LinkCode0004');
  const codes = Array.from({ length: 25 }, (_, n) => `LinkCode10${n + 10}`);
  for (const installCode of codes) {
    await addLink(store, providerId, { installCode });
    await knock(store, 'y', installCode);
  }
  const { tokenHash } = await holderOf(store, 'y');
  const forgetting = store.forgetDevice('y', ACT);
  // It takes several commits, and the token is gone with the first one.
  while ((await store.findDeviceByToken(tokenHash)) !== null) await nextTurn();
  expect(await store.findDevice('y')).not.toBeNull();
  expect(await forgetting).toBe('ok');
});

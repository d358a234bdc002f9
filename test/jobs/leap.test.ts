/**
 * The machine's clock and the steady one move apart under the jobs of an appliance: each row of the
 * table in docs/time.md, on either store.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { SYSTEM } from '../../src/core/audit/entry.ts';
import { verifyAudit } from '../../src/core/audit/verify.ts';
import { actingAs } from '../../src/core/core.ts';
import { changeLinks } from '../../src/core/job/job.ts';
import { jobStep } from '../../src/core/job/step.ts';
import { readLinkFilter } from '../../src/core/link-filter.ts';
import { startJobs } from '../../src/jobs/table.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { byLink, inbox, notify, readable, register } from '../support/messaging.ts';
import { addOldRows } from '../support/old-rows.ts';
import { addLink, enter, expectOk, LINK, seedShop } from '../support/shop.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TEN_YEARS_MS = 3_653 * DAY_MS;

const SETTINGS = {
  ledgerDays: 30,
  distributionDays: 90,
  deviceDays: 90,
  strangersMax: 1_000,
  webhookKeepDays: 7,
  auditDays: 90,
  auditEntriesMax: 100,
  webhookEndingDays: [],
};
const DELETING = [
  ...(['end-handed-over', 'expire', 'prune', 'forget-strangers'] as const),
  ...(['prune-audit', 'forget-events', 'forget-sessions', 'notices'] as const),
];

let app: TestApp;
let db: Beside;
let jobs: ReturnType<typeof startJobs>;

beforeEach(async () => {
  app = await startTestApp();
  db = besideOf(app);
  const { clock, core, log, timekeeper } = app;
  jobs = startJobs({
    log,
    timekeeper,
    settings: SETTINGS,
    tls: null,
    core: actingAs(core, () => SYSTEM),
    clock: { ...clock, nowMs: timekeeper.nowMs },
    worker: { wake: () => undefined, tick: async () => undefined, stop: async () => undefined },
    outbox: { tick: () => undefined },
    follower: { tick: async () => undefined },
    cutter: { tick: async () => undefined },
    remind: async () => undefined,
    upstreams: { refresh: async () => undefined },
    strangerPage: { refresh: async () => undefined },
    checkRelease: async () => undefined,
    jobWorker: { tick: () => undefined, wake: () => undefined },
    node: { name: 'one', address: '', version: '', startedAtMs: 0 },
  });
  await jobs.run('time');
});
afterEach(async () => {
  await jobs.stop();
  db.close();
  await app.close();
});

/** Moves the machine's clock alone. */
async function leap(ms: number): Promise<void> {
  app.clock.leap(ms);
  await jobs.run('time');
}

/** Lets time pass on both clocks. */
async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await jobs.run('time');
}

async function runAll(): Promise<void> {
  for (const name of DELETING) await jobs.run(name);
}

const count = (table: string) =>
  db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;

/** Tables of records that are deleted by the clock, and how many rows are left in the end. */
const DELETED = [
  ['distribution', 0],
  ['recipient', 0],
  ['device', 1],
  ['slot_end', 0],
  ['refused_device', 0],
  ['slot_phone', 0],
  ['sighting', 0],
  ['ride', 0],
  ['install_tombstone', 0],
  ['provider_day', 0],
  ['idempotent_call', 0],
  ['job', 0],
  ['event', 0],
  ['session', 0],
  ['one_time', 0],
] as const;
const counts = () => DELETED.map(([table]) => [table, count(table)]);

/** Rows of now that are deleted once they are old. */
function addRows(): void {
  addOldRows({ db, database: app.database });
  db.run(`INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
    first_seen_at_ms, last_seen_at_ms) VALUES (2, 'stranger', '', '', '', '', '', 0, 0)`);
  db.run(`INSERT INTO recipient (distribution_id, device_id, inbox, state, is_waiting, queued_at_ms)
    VALUES (1, 1, 1, 1, 0, 0)`);
  db.run('INSERT INTO provider_day (provider_id, day) VALUES (1, 20777)');
  db.run("UPDATE job SET state = 'done', ended_at_ms = NOW".replace('NOW', `${app.clock.nowMs()}`));
  for (const status of [20, 5, 40, 100]) db.run(`UPDATE distribution SET status = ${status}`);
  const now = app.clock.nowMs();
  db.run('DELETE FROM outbox');
  const soon = now + HOUR_MS;
  for (const [table, ...columns] of [
    ['distribution', 'created_at_ms', 'due_at_ms', 'finished_at_ms'],
    ['device', 'last_seen_at_ms'],
    ['slot_end', 'ended_at_ms'],
    ['refused_device', 'last_refused_at_ms'],
    ['slot_phone', 'first_seen_at_ms', 'last_seen_at_ms'],
    ['sighting', 'last_seen_at_ms'],
    ['install_tombstone', 'ended_at_ms'],
    ['idempotent_call', 'answered_at_ms'],
    ['event', 'at_ms'],
    ['session', 'created_at_ms', 'seen_at_ms'],
  ] as const) {
    for (const column of columns) db.run(`UPDATE ${table} SET ${column} = ${now}`);
  }
  for (const [table, column] of [
    ['distribution', 'expires_at_ms'],
    ['ride', 'until_ms'],
    ['session', 'until_ms'],
    ['one_time', 'until_ms'],
  ]) {
    db.run(`UPDATE ${table} SET ${column} = ${soon}`);
  }
}

test.each([
  ['ahead', TEN_YEARS_MS],
  ['back', -TEN_YEARS_MS],
])(
  'ten years %s and to the right time: nothing is deleted; it is once it is old',
  async (_, ms) => {
    addRows();
    const before = counts();
    await runAll();
    expect(counts()).toEqual(before);
    await leap(ms);
    await runAll();
    expect(counts()).toEqual(before);
    await pass(40 * 60_000);
    await runAll();
    expect(counts()).toEqual(before);
    await leap(-ms);
    await runAll();
    expect(counts()).toEqual(before);
    await pass(900 * DAY_MS);
    await runAll();
    await runAll();
    expect(counts()).toEqual(DELETED.map(([table, left]) => [table, left]));
  },
);

test('24 hours, or the operator, make the leap right: then the old goes by it', async () => {
  addRows();
  await leap(TEN_YEARS_MS);
  await pass(23 * HOUR_MS);
  await runAll();
  expect(count('sighting')).toBe(1);
  expect(app.timekeeper.leap()).toMatchObject({ isSuspended: true, isSpent: false });
  await app.core.store.trustClocks(ACT);
  // The server asks the store every five seconds.
  await pass(5_000);
  await runAll();
  expect(count('sighting')).toBe(0);
  expect(app.timekeeper.leap()).toBeNull();
});

test('rows in excess go meanwhile, and the log verifies at each time', async () => {
  await seedShop(app);
  const act = (atMs: number) => ({ ...ACT, atMs });
  const fill = async (counted: number) => {
    for (let n = 0; n < counted; n++) {
      await app.core.store.addUpstream(
        `h${n}.example.com`,
        { n },
        500,
        act(app.timekeeper.nowMs()),
      );
      await app.core.store.removeUpstream(`h${n}.example.com`, act(app.timekeeper.nowMs()));
    }
  };
  const verify = () =>
    verifyAudit(app.core, { expected: [], nowMs: app.clock.nowMs(), ...SETTINGS });
  await fill(20);
  await leap(TEN_YEARS_MS);
  await fill(40);
  await jobs.run('prune-audit');
  expect((await verify()).problem).toBeNull();
  const { prunedCount } = await verify();
  expect(prunedCount).toBeGreaterThan(10);
  await leap(-TEN_YEARS_MS);
  await fill(2);
  await jobs.run('prune-audit');
  expect((await verify()).problem).toBeNull();
  // Entries of the future end with those behind them.
  await pass(100 * DAY_MS);
  await fill(1);
  await jobs.run('prune-audit');
  const last = await verify();
  expect(last.problem).toBeNull();
  expect(last.count).toBeLessThan(10);
});

test('a scheduled send waits for its time, is not lost, and others go on', async () => {
  const own = await seedShop(app);
  await addLink(app, own);
  await enter(app, 'phone');
  const token = await register(app, byLink('phone', LINK));
  const tomorrow = { send_date: '2026-11-21', send_time: '15:00' };
  await notify(app, own, 'tomorrow', { hwid: 'phone' }, tomorrow);
  const cancelled = await notify(app, own, 'cancelled', { hwid: 'phone' }, tomorrow);
  await notify(app, own, 'before', { hwid: 'phone' });
  await app.deliver();
  await leap(TEN_YEARS_MS);
  await notify(app, own, 'meanwhile', { hwid: 'phone' });
  await app.deliver();
  await runAll();
  expect(await readable(app, token)).toEqual(['before', 'meanwhile']);
  await expectOk(call(app, '/remote/cancel', own, { id: cancelled }));
  await leap(-TEN_YEARS_MS);
  await app.deliver();
  expect(await readable(app, token)).toEqual(['before', 'meanwhile']);
  // At 15:00 in UTC+3.
  await pass(DAY_MS);
  await app.deliver();
  await runAll();
  expect(await readable(app, token)).toEqual(['tomorrow']);
  expect((await inbox(app, token)).json.rc).toBe(1);
});

test('a job of a clock that was a day ahead waits ten seconds, not a day', async () => {
  const own = await seedShop(app);
  await addLink(app, own);
  const provider = await app.core.store.findProvider(own.code);
  if (provider === null) throw new Error('no provider');
  await leap(DAY_MS);
  const all = readLinkFilter({ search: null, status: null, isFull: false });
  const made = await changeLinks(app.core, provider, all, { note: 'b' }, app.timekeeper.nowMs());
  expect(made).toHaveProperty('id');
  await leap(-DAY_MS);
  const step = () => jobStep(app.core, 'one', app.timekeeper.nowMs());
  expect(await step()).toBe(false);
  await pass(10_000);
  expect(await step()).toBe(true);
});

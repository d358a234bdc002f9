/** Figures by the clock: saved without any other write, and kept for two years. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import { utcDay } from '../../src/core/calendar.ts';
import { FIGURE_DAYS } from '../../src/core/figures.ts';
import { startJobs } from '../../src/jobs/table.ts';
import { addDoor } from '../store/contract/fixture.ts';
import { DAY_MS, type Engine, openEngine } from '../support/delivery.ts';
import { noLeapKeeper } from '../support/no-leap.ts';

const SETTINGS = {
  auditDays: 1,
  auditEntriesMax: 1,
  ledgerDays: 1,
  distributionDays: 1,
  deviceDays: 1,
  strangersMax: 1,
  webhookKeepDays: 7,
  webhookEndingDays: [],
};

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

function jobsOf({ core, clock }: Engine) {
  return startJobs({
    core,
    clock,
    tls: null,
    settings: SETTINGS,
    timekeeper: noLeapKeeper(clock),
    log: makeLog({ logFormat: 'human', logLevel: 'error' }, clock.nowMs, () => {}),
    worker: { wake: () => undefined, tick: async () => undefined, stop: async () => undefined },
    outbox: { tick: () => undefined },
    strangerPage: { refresh: async () => undefined },
    checkRelease: async () => undefined,
    follower: { tick: async () => undefined },
    cutter: { tick: async () => undefined },
    remind: async () => undefined,
    upstreams: { refresh: async () => undefined },
    jobWorker: { tick: () => undefined, wake: () => undefined },
    node: { name: 'one', address: '', version: '', startedAtMs: 0 },
  });
}

const daysOnDisk = () =>
  engine.db
    .query<{ day: number }, []>('SELECT day FROM provider_day ORDER BY day')
    .all()
    .map(({ day }) => day);

test('refusals alone are saved by the clock', async () => {
  const { core, clock } = engine;
  const link = await addDoor(core.store);
  await core.store.saveFigures();
  core.store.countRefusal(link, 'link_disabled', clock.nowMs() + DAY_MS);
  const today = utcDay(clock.nowMs());
  expect(daysOnDisk()).toEqual([today]);
  const jobs = jobsOf(engine);
  await jobs.run('figures');
  await jobs.stop();
  expect(daysOnDisk()).toEqual([today, today + 1]);
});

test('the last 731 days are kept, today included', async () => {
  const { core, clock } = engine;
  const link = await addDoor(core.store);
  const today = utcDay(clock.nowMs());
  for (const daysAgo of [0, 1, FIGURE_DAYS - 1, FIGURE_DAYS, FIGURE_DAYS + 1, 5_000]) {
    core.store.countRefusal(link, 'link_disabled', clock.nowMs() - daysAgo * DAY_MS);
  }
  await core.store.saveFigures();
  const jobs = jobsOf(engine);
  await jobs.run('prune');
  await jobs.stop();
  expect(daysOnDisk()).toEqual([today - 730, today - 1, today]);
});

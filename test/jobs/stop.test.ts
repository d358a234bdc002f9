/** A stop comes during work without end: each job and worker returns after its step. */

import { expect, test } from 'bun:test';
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupByChild } from '../../src/backup/shelf.ts';
import { makeLog } from '../../src/base/log.ts';
import type { Core } from '../../src/core/core.ts';
import { LOAD } from '../../src/core/message/status.ts';
import type { ClaimedDistribution } from '../../src/core/port/distribution.ts';
import type { FinishedCursor, StrangerCursor } from '../../src/core/port/keeping.ts';
import { type Store, StoreAway } from '../../src/core/port/store.ts';
import { Signals } from '../../src/core/signals.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { startBackupJob } from '../../src/jobs/backup.ts';
import { makeWorker } from '../../src/jobs/deliver.ts';
import { startJobs } from '../../src/jobs/table.ts';
import { stopInOrder } from '../../src/parts/stopping.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { WIDE_LIMITS } from '../support/bounds.ts';
import { FakeClock } from '../support/clock.ts';
import { noLeap, noLeapKeeper } from '../support/no-leap.ts';
import { NO_RIDES } from '../support/no-rides.ts';
import { until } from '../support/until.ts';

const lines: string[] = [];
const clock = new FakeClock();
const log = makeLog({ logFormat: 'human', logLevel: 'info' }, clock.nowMs, (line) =>
  lines.push(line),
);

const NODE = { name: 'one', address: '', version: '', startedAtMs: 0 };
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

function coreOn(store: Partial<Store>): Core {
  return {
    store: store as Store,
    signals: new Signals(),
    actor: () => ACT.actor,
    limits: WIDE_LIMITS,
    gateways: () => [],
    rides: () => NO_RIDES,
    leastMs: noLeap,
    pushKey: () => null,
  };
}

test.each(['expire', 'prune', 'forget-strangers', 'prune-audit'])(
  'the job %s with work without end',
  async (name) => {
    let steps = 0;
    const step = async () => {
      steps += 1;
      await nextTurn();
      return true;
    };
    const core = coreOn({
      expireRecipients: async () => Number(await step()),
      pruneLedger: async () => ((await step()) ? ({} as FinishedCursor) : null),
      forgetStrangers: async () => ((await step()) ? ({} as StrangerCursor) : null),
      endFolds: step,
      pruneAudit: step,
    });
    const jobs = startJobs({
      timekeeper: noLeapKeeper(clock),
      core,
      clock,
      log,
      tls: null,
      worker: { wake: () => undefined, tick: async () => undefined, stop: async () => undefined },
      outbox: { tick: () => undefined },
      follower: { tick: async () => undefined },
      cutter: { tick: async () => undefined },
      remind: async () => undefined,
      upstreams: { refresh: async () => undefined },
      strangerPage: { refresh: async () => undefined },
      checkRelease: async () => undefined,
      jobWorker: { tick: () => undefined, wake: () => undefined },
      settings: SETTINGS,
      node: NODE,
    });
    const running = jobs.run(name);
    await until('it has begun', () => steps > 3);
    await jobs.stop();
    const stepsDone = steps;
    await running;
    await nextTurn();
    expect(steps).toBe(stepsDone);
  },
);

test('a job that fails, however it does, is run again at its next time', async () => {
  let rings = 0;
  const ring = (): Promise<void> => {
    rings += 1;
    throw new Error('before it could begin');
  };
  const jobs = startJobs({
    timekeeper: noLeapKeeper(clock),
    core: coreOn({}),
    clock,
    log,
    tls: null,
    worker: { wake: () => undefined, tick: ring, stop: async () => undefined },
    outbox: { tick: () => undefined },
    follower: { tick: async () => undefined },
    cutter: { tick: async () => undefined },
    remind: async () => undefined,
    upstreams: { refresh: async () => undefined },
    strangerPage: { refresh: async () => undefined },
    checkRelease: async () => undefined,
    jobWorker: { tick: () => undefined, wake: () => undefined },
    settings: SETTINGS,
    node: NODE,
  });
  await jobs.run('deliver');
  const ringsBefore = rings;
  await jobs.run('deliver');
  expect(rings).toBeGreaterThan(ringsBefore);
  await jobs.stop();
});

test('a job runs once at a time, and an outage of the database is not logged by it', async () => {
  let runs = 0;
  const outage = Promise.withResolvers<void>();
  const tick = async () => {
    runs += 1;
    await outage.promise;
  };
  const jobs = startJobs({
    timekeeper: noLeapKeeper(clock),
    core: coreOn({}),
    clock,
    log,
    tls: null,
    worker: { wake: () => undefined, tick, stop: async () => undefined },
    outbox: { tick: () => undefined },
    follower: { tick: async () => undefined },
    cutter: { tick: async () => undefined },
    remind: async () => undefined,
    upstreams: { refresh: async () => undefined },
    strangerPage: { refresh: async () => undefined },
    checkRelease: async () => undefined,
    jobWorker: { tick: () => undefined, wake: () => undefined },
    settings: SETTINGS,
    node: NODE,
  });
  const both = [jobs.run('deliver'), jobs.run('deliver')];
  expect(runs).toBe(1);
  lines.length = 0;
  outage.reject(new StoreAway('the database does not answer'));
  await Promise.all(both);
  expect(lines).toEqual([]);
  await jobs.stop();
});

test('delivery: what is claimed and not begun is given back, not worked off', async () => {
  let loads = 0;
  let released = 0;
  const work = (id: number) =>
    ({ id, status: LOAD, isBulky: true, isTakenOver: false, isDue: true }) as ClaimedDistribution;
  const worker = makeWorker(
    coreOn({
      watch: () => () => undefined,
      onBehalfOf: (party, _nameOf, work) => work(party),
      nameWorker: async () => 'one',
      deliverNamed: async () => ({ count: 0, deviceIds: [], failedCount: 0 }),
      claimWork: async () => Array.from({ length: 100 }, (_, n) => work(n + 1)),
      loadRecipients: async () => {
        loads += 1;
        await nextTurn();
        return { isDone: false };
      },
      releaseWork: async () => {
        released += 1;
      },
    }),
    clock,
    log,
  );
  worker.wake();
  await until('it has begun', () => loads > 0);
  const loadsDone = loads;
  await worker.stop();
  expect(loads).toBeLessThanOrEqual(loadsDone + 1);
  expect(released).toBe(1);
});

test('a backup in a process that does not listen', async () => {
  const folder = freshFolder();
  const begun = join(folder, 'begun');
  const program = join(folder, 'deaf');
  // As a process is that copies: nothing but the end by force is heard.
  writeFileSync(
    program,
    `#!/bin/sh\ntrap '' TERM\ntouch '${begun}'\nwhile :; do sleep 0.01; done\n`,
  );
  chmodSync(program, 0o700);
  const run = backupByChild([program], 10);
  const store = await openSqliteStore({ dataDir: folder, create: true, commitBatchMax: 1 });
  const backups = await startBackupJob({
    clock,
    log,
    store,
    settings: { backupAt: '' },
    newest: () => null,
    onNoted: async () => {},
    onMade: () => undefined,
    make: async (_, signal) => {
      await run(join(folder, 'backup'), folder, null, signal);
      return null;
    },
  });
  const ringing = backups.run();
  await until('it runs', () => existsSync(begun));
  await backups.stop();
  expect(await ringing).toBe('the server stops');
  await store.close();
  const left = readdirSync(folder).filter((name) => !name.startsWith('gatepost.'));
  expect(left.toSorted()).toEqual(['begun', 'deaf']);
  rmSync(folder, { recursive: true });
});

test('a part that fails and one that hangs: the rest is stopped, the store closed', async () => {
  const stopped: string[] = [];
  const part = (name: string, stop: () => Promise<void> = async () => undefined) => ({
    name,
    stop: () => {
      stopped.push(name);
      return stop();
    },
  });
  const releasing = () => Promise.reject(new Error('the lease could not be given back'));
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  lines.splice(0);
  await stopInOrder(
    [part('server', () => answered), part('delivery', releasing), part('jobs')],
    // Calls that wait in the server wait for the store.
    [part('store', async () => answer()), part('monitor')],
    log,
    1,
  );
  expect(stopped).toEqual(['server', 'delivery', 'jobs', 'store', 'monitor']);
  const said = lines.map((line) => line.replace(/^\S+ /, '').trimEnd());
  expect(said[0]).toStartWith('error stop_fault part=delivery reason=');
  expect(said[0]).toContain('the lease could not be given back');
  expect(said.slice(1)).toEqual(['warn stop_late parts=server']);
});

test('the last parts stop one after the other', async () => {
  const order: string[] = [];
  const slow = async () => {
    await Promise.resolve();
    await Promise.resolve();
    order.push('store');
  };
  const last = [
    { name: 'store', stop: slow },
    { name: 'monitor', stop: async () => void order.push('monitor') },
  ];
  await stopInOrder([], last, log);
  expect(order).toEqual(['store', 'monitor']);
});

/** Jobs by the clock: croner starts them, the work is functions of the core and a time. */

import { Cron } from 'croner';
import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import type { Core } from '../core/core.ts';
import { countMixes } from '../core/device-mix.ts';
import type { NodeFacts } from '../core/port/node.ts';
import { isAway } from '../core/port/store.ts';
import type { Timekeeper } from '../core/timekeeper.ts';
import { nextTurn } from '../core/turn.ts';
import type { Cutter } from './cut-off.ts';
import type { Worker } from './deliver.ts';
import type { Follower } from './follow.ts';
import {
  endHandedOver,
  expireMessages,
  forgetEvents,
  forgetPrivate,
  forgetSessions,
  forgetStrangers,
  type KeepSettings,
  keepAuditBounded,
  logAuditHead,
  prune,
} from './keep.ts';
import type { JobWorker } from './link-jobs.ts';
import {
  type NoticeSettings,
  noticeAppliance,
  noticeCopied,
  noticeSubscriptions,
} from './notice.ts';
import type { Outbox } from './outbox/worker.ts';
import type { Reminder } from './remind.ts';

interface JobDeps {
  core: Core;
  clock: Clock;
  /** The guard of what deletes by the clock. */
  timekeeper: Pick<Timekeeper, 'ageMs' | 'keep'>;
  log: Log;
  worker: Worker;
  jobWorker: Pick<JobWorker, 'tick' | 'wake'>;
  outbox: Pick<Outbox, 'tick'>;
  /** The panels that are followed. */
  follower: Pick<Follower, 'tick'>;
  /** The cut-offs that wait. */
  cutter: Pick<Cutter, 'tick'>;
  /** Sends the reminders that are due. */
  remind: Reminder;
  /** The upstreams of the gate that the database keeps. */
  upstreams: { refresh(): Promise<void> };
  /** The answer to strangers. */
  strangerPage: { refresh(signal: AbortSignal): Promise<void> };
  /** Asks for a newer version if a question is due. */
  checkRelease(signal: AbortSignal): Promise<void>;
  /** Null: plain HTTP. */
  tls: { check(): Promise<void>; expiresAtMs(): number } | null;
  /** This process, as other nodes on its database see it. */
  node: NodeFacts;
  /** Read at each run: a change applies at once. */
  settings: KeepSettings & NoticeSettings;
}

interface Job {
  name: string;
  /** A cron pattern with seconds. */
  pattern: string;
  /** Returns early, between two steps, when the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const job = (name: string, pattern: string, run: Job['run']): Job => ({ name, pattern, run });

function jobs({
  core,
  clock,
  timekeeper,
  log,
  worker,
  jobWorker,
  outbox,
  follower,
  cutter,
  remind,
  upstreams,
  strangerPage,
  checkRelease,
  tls,
  settings,
  node,
}: JobDeps): Job[] {
  const { nowMs } = clock;
  const { ageMs } = timekeeper;
  const leastMs = () => core.leastMs(nowMs());
  return [
    // Work that was postponed waits for at most a second.
    job('deliver', '* * * * * *', () => worker.tick()),
    job('outbox', '* * * * * *', async () => outbox.tick()),
    job('link-jobs', '* * * * * *', async () => jobWorker.tick()),
    // Takes over jobs of a killed node; one read.
    job('left-jobs', '*/5 * * * * *', async () => jobWorker.wake()),
    job('upstreams', '*/5 * * * * *', () => upstreams.refresh()),
    job('follow', '*/5 * * * * *', () => follower.tick()),
    job('cut-off', '*/5 * * * * *', () => cutter.tick()),
    job('stranger-page', '5 * * * * *', strangerPage.refresh),
    job('release', '35 * * * * *', checkRelease),
    job('node', '*/5 * * * * *', () => core.store.noteNode(node)),
    // Before what it guards.
    job('time', '* * * * * *', () => timekeeper.keep(core.store)),
    job('end-handed-over', '30 * * * * *', (signal) => endHandedOver(core, leastMs(), signal)),
    job('expire', '20 * * * * *', (signal) => expireMessages(core, leastMs(), signal)),
    ...(tls ? [job('certificate', '50 * * * * *', async () => void tls.check())] : []),
    job('remind', '45 * * * * *', remind),
    job('prune', '40 7 * * * *', (signal) => prune(core, settings, ageMs(), signal)),
    job('forget-private', '15 12 * * * *', (signal) => forgetPrivate(core, signal)),
    // A kill loses at most the figures of ten seconds.
    job('figures', '*/10 * * * * *', () => core.store.saveFigures()),
    // Each minute, as callers can add devices, change and cause events at full speed.
    job('forget-strangers', '10 * * * * *', (signal) =>
      forgetStrangers(core, settings, ageMs(), signal),
    ),
    job('prune-audit', '50 * * * * *', (signal) =>
      keepAuditBounded(core, settings, ageMs(), nowMs(), signal),
    ),
    job('forget-events', '25 * * * * *', (signal) => forgetEvents(core, settings, ageMs(), signal)),
    job('forget-sessions', '15 * * * * *', (signal) => forgetSessions(core, ageMs(), signal)),
    job('event-folds', '*/30 * * * * *', async (signal) => {
      while (!signal.aborted && (await core.store.endEventFolds(leastMs()))) await nextTurn();
    }),
    job('notices', '30 * * * * *', async (signal) => {
      await noticeSubscriptions(core, settings, leastMs(), signal);
      await noticeCopied(core, leastMs());
      await noticeAppliance(core, tls?.expiresAtMs() ?? null, nowMs());
    }),
    // Once a day for each provider; one that was counted today costs one read.
    job('device-mix', '0 17 * * * *', (signal) => countMixes(core, nowMs(), signal)),
    job('audit-head', '30 0 0 * * *', () => logAuditHead(core, log)),
  ];
}

interface RunningJobs {
  /** Runs the job of that name now, or waits for the run in progress; a fault is logged. */
  run(name: string): Promise<void>;
  /** Starts no job any more, stops those that run between two steps, and waits for them. */
  stop(): Promise<void>;
}

/** Runs the jobs of the table by the clock, each once at a time, until `stop`. */
export function startJobs(deps: JobDeps): RunningJobs {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const table = jobs(deps);

  function run(name: string): Promise<void> {
    const present = running.get(name);
    if (present !== undefined) return present;
    const job = runOnce(name).finally(() => running.delete(name));
    running.set(name, job);
    return job;
  }

  async function runOnce(name: string): Promise<void> {
    try {
      await table.find((job) => job.name === name)?.run(stopping.signal);
    } catch (fault) {
      if (isAway(fault)) return;
      deps.log.error('job_fault', { job: name, reason: reasonOf(fault) });
    }
  }

  const crons = table.map(({ name, pattern }) => new Cron(pattern, () => run(name)));
  return {
    run,
    stop: async () => {
      for (const cron of crons) cron.stop();
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

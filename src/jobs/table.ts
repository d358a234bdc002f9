/** Jobs by the clock: croner starts them, the work is functions of the core and a time. */

import { Cron } from 'croner';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import type { NodeFacts } from '../core/port/node.ts';
import { isAway } from '../core/port/store.ts';
import { type Log, reasonOf } from '../log.ts';
import type { Worker } from './deliver.ts';
import {
  endHandedOver,
  expireMessages,
  forgetEvents,
  forgetStrangers,
  type KeepSettings,
  keepAuditBounded,
  logAuditHead,
  prune,
} from './keep.ts';
import { type NoticeSettings, noticeAppliance, noticeSubscriptions } from './notice.ts';
import type { Outbox } from './outbox/worker.ts';

interface JobDeps {
  core: Core;
  clock: Clock;
  log: Log;
  worker: Worker;
  outbox: Pick<Outbox, 'tick'>;
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

function jobs({ core, clock, log, worker, outbox, tls, settings, node }: JobDeps): Job[] {
  return [
    // Work that was put off waits for a second at most.
    { name: 'deliver', pattern: '* * * * * *', run: () => worker.tick() },
    { name: 'outbox', pattern: '* * * * * *', run: async () => outbox.tick() },
    { name: 'node', pattern: '*/5 * * * * *', run: () => core.store.noteNode(node) },
    {
      name: 'end-handed-over',
      pattern: '30 * * * * *',
      run: (signal) => endHandedOver(core, clock.nowMs(), signal),
    },
    {
      name: 'expire',
      pattern: '20 * * * * *',
      run: (signal) => expireMessages(core, clock.nowMs(), signal),
    },
    ...(tls
      ? [{ name: 'certificate', pattern: '50 * * * * *', run: async () => void tls.check() }]
      : []),
    {
      name: 'prune',
      pattern: '40 7 * * * *',
      run: (signal) => prune(core, settings, clock.nowMs(), signal),
    },
    // Else figures wait for the next commit; a kill loses ten seconds of them at most.
    { name: 'figures', pattern: '*/10 * * * * *', run: () => core.store.saveFigures() },
    {
      name: 'forget-strangers',
      // Each minute, as any caller can add devices.
      pattern: '10 * * * * *',
      run: (signal) => forgetStrangers(core, settings, clock.nowMs(), signal),
    },
    {
      name: 'prune-audit',
      // Each minute: a flood of changes exceeds the bound for a minute at most.
      pattern: '50 * * * * *',
      run: (signal) => keepAuditBounded(core, settings, clock.nowMs(), signal),
    },
    {
      name: 'notices',
      pattern: '30 * * * * *',
      run: async (signal) => {
        await noticeSubscriptions(core, settings, clock.nowMs(), signal);
        await noticeAppliance(core, tls?.expiresAtMs() ?? null, clock.nowMs());
      },
    },
    {
      name: 'forget-events',
      // Each minute, as a provider can cause events at full speed.
      pattern: '25 * * * * *',
      run: (signal) => forgetEvents(core, settings, clock.nowMs(), signal),
    },
    { name: 'audit-head', pattern: '30 0 0 * * *', run: () => logAuditHead(core, log) },
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

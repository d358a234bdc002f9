/**
 * What happens by the clock. croner only rings; the work is plain functions of the core and a time.
 */

import { Cron } from 'croner';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import { type Log, reasonOf } from '../log.ts';
import type { Worker } from './deliver.ts';
import {
  type AuditBounds,
  expireMessages,
  keepAuditBounded,
  logAuditHead,
  pruneLedger,
} from './keep.ts';

export interface JobDeps {
  core: Core;
  clock: Clock;
  log: Log;
  worker: Worker;
  /** Null: plain HTTP. */
  tls: { look(): Promise<void> } | null;
  /** Looked at whenever a job runs, so that a change holds at once. */
  settings: AuditBounds & { readonly ledgerDays: number };
}

interface Job {
  name: string;
  /** With seconds. */
  pattern: string;
  run(): Promise<void>;
}

function jobs({ core, clock, log, worker, tls, settings }: JobDeps): Job[] {
  return [
    // No deferred work waits for longer than a second.
    { name: 'deliver', pattern: '* * * * * *', run: () => worker.ring() },
    { name: 'expire', pattern: '20 * * * * *', run: () => expireMessages(core, clock.nowMs()) },
    ...(tls
      ? [{ name: 'certificate', pattern: '50 * * * * *', run: async () => void tls.look() }]
      : []),
    {
      name: 'prune',
      pattern: '40 7 * * * *',
      run: () => pruneLedger(core, settings.ledgerDays, clock.nowMs()),
    },
    {
      name: 'prune-audit',
      // Each minute, so that a flood of changes is no more than a minute over the bound.
      pattern: '50 * * * * *',
      run: () => keepAuditBounded(core, settings, clock.nowMs()),
    },
    { name: 'audit-head', pattern: '30 0 0 * * *', run: () => logAuditHead(core, log) },
  ];
}

/** Starts the jobs; returns how to stop them and wait for what runs. */
export function startJobs(deps: JobDeps): () => Promise<void> {
  const running = new Set<Promise<void>>();
  const crons = jobs(deps).map(({ name, pattern, run }) => {
    const ring = async () => {
      const job = run().catch((fault: unknown) => {
        deps.log.error('job_fault', { job: name, reason: reasonOf(fault) });
      });
      running.add(job);
      await job;
      running.delete(job);
    };
    return new Cron(pattern, { protect: true }, ring);
  });
  return async () => {
    for (const cron of crons) cron.stop();
    await Promise.all(running);
  };
}

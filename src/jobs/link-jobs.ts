/** The worker of this process for jobs of the console, one bounded step at a time. */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import type { Core } from '../core/core.ts';
import { jobStep } from '../core/job/step.ts';
import { isAway } from '../core/port/store.ts';
import { nextTurn } from '../core/turn.ts';
import { WakeLoop } from './wake-loop.ts';

export interface JobWorker {
  wake(): void;
  /** Wakes the worker if a job is due; once a second. */
  tick(): void;
  /** Lets the current step end; another worker takes the job over. */
  stop(): Promise<void>;
}

/** Makes a worker that claims jobs under a name of its own. */
export function makeJobWorker(core: Core, clock: Clock, log: Log): JobWorker {
  let owner: string | null = null;
  let isStopping = false;
  const faults = { id: 0, count: 0 };
  const loop = new WakeLoop({
    core,
    clock,
    onFault: (fault) => {
      if (!isAway(fault)) log.error('job_fault', { job: 'links', reason: reasonOf(fault) });
    },
    work: async () => {
      owner ??= await core.store.nameWorker();
      let nextMs = await core.store.findNextJobMs(owner);
      // Looking is a read, claiming a write.
      while (!isStopping && nextMs !== null && nextMs <= clock.nowMs()) {
        // Due jobs may wait for their webhooks.
        if (!(await jobStep(core, owner, clock.nowMs(), faults))) break;
        await nextTurn();
        nextMs = await core.store.findNextJobMs(owner);
      }
      return nextMs;
    },
  });
  // Another process may have added one.
  const stopWatching = core.store.watch(() => loop.wake());
  return {
    wake: () => loop.wake(),
    tick: () => loop.tick(),
    stop: async () => {
      stopWatching();
      isStopping = true;
      await loop.stop();
    },
  };
}

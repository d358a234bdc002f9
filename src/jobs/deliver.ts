/** Delivery: the worker of this process, woken by calls and by the bell. */

import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import { deliverStep, tell } from '../core/message/deliver.ts';
import { isAway } from '../core/port/store.ts';
import { nextTurn } from '../core/turn.ts';
import { type Log, reasonOf } from '../log.ts';

export interface Worker {
  /** Looks for work, unless it is at it already. */
  look(): void;
  /** Looks, once a second, if something is due, and makes up for what failed. */
  ring(): Promise<void>;
  /** Lets the step under way finish, takes no more, and leaves the rest for another worker. */
  stop(): Promise<void>;
}

/**
 * A worker under a name of its own, so that its leases are told from another process's. To be made
 * before anybody can wait for messages: it tells of what others change from now on.
 */
export function makeWorker(core: Core, clock: Clock, log: Log): Worker {
  let owner: string | null = null;
  const stopping = new AbortController();
  const { signal } = stopping;
  let mustLookAgain = false;
  let running: Promise<void> | null = null;
  let mustTellAll = false;
  /** Time before which nothing is due (null: nothing is): a bell for nothing costs no query. */
  let nextLookMs: number | null = Number.NEGATIVE_INFINITY;

  function report(fault: unknown): void {
    if (!isAway(fault)) log.error('delivery_fault', { reason: reasonOf(fault) });
  }

  async function work(): Promise<void> {
    while (mustLookAgain && !signal.aborted) {
      mustLookAgain = false;
      owner ??= await core.store.nameWorker();
      while (!signal.aborted && (await deliverStep(core, owner, clock.nowMs(), signal))) {
        await nextTurn();
      }
      nextLookMs = await core.store.nextDueMs();
    }
  }

  function look(): void {
    if (signal.aborted) return;
    mustLookAgain = true;
    // The call that gave the signal may be a provider's.
    running ??= core.store
      .onBehalfOf('jobs', String, work)
      .catch((fault: unknown) => {
        // The rest stays in the store; the next bell tries again.
        nextLookMs = Number.NEGATIVE_INFINITY;
        report(fault);
      })
      .finally(() => {
        running = null;
        if (mustLookAgain && !signal.aborted) setImmediate(look);
      });
  }

  /** Tells whoever waits here; what fails half way is made up for by the next bell. */
  async function tellOf(deviceIds: readonly number[] | 'all'): Promise<void> {
    try {
      await tell(core, deviceIds);
    } catch (fault) {
      mustTellAll = true;
      report(fault);
    }
  }

  const stopWatching = core.store.watch((deviceIds) => {
    look();
    core.signals.outboxFilled();
    void tellOf(deviceIds);
  });

  return {
    look,
    ring: async () => {
      if (nextLookMs !== null && nextLookMs <= clock.nowMs()) look();
      if (!mustTellAll) return;
      mustTellAll = false;
      await tellOf('all');
    },
    stop: async () => {
      stopWatching();
      stopping.abort();
      await running;
      if (owner !== null) await core.store.releaseWork(owner);
    },
  };
}

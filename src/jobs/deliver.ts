/** Delivery: the worker of this process, woken by calls and by the bell. */

import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import { deliverStep, tellEverybody } from '../core/message/deliver.ts';
import { nextTurn } from '../core/turn.ts';
import { type Log, reasonOf } from '../log.ts';

export interface Worker {
  /** Looks for work, unless it is at it already. */
  look(): void;
  /** The bell, once a second: looks if something is due or another process changed the database. */
  ring(): Promise<void>;
  /** Lets the step under way finish, takes no more, and leaves the rest for another worker. */
  stop(): Promise<void>;
}

/**
 * A worker under a name of its own, so that its leases are told from another process's. To be made
 * before anybody can wait for messages: it tells of what others change from now on.
 */
export async function makeWorker(core: Core, clock: Clock, log: Log): Promise<Worker> {
  const owner = `${process.pid}-${crypto.randomUUID()}`;
  const stopping = new AbortController();
  const { signal } = stopping;
  let mustLookAgain = false;
  let running: Promise<void> | null = null;
  let toldForeignChanges = await core.store.foreignChanges();
  /** No need to look before: nothing is due. A bell that rings for nothing costs no query. */
  let nextLookMs: number | null = Number.NEGATIVE_INFINITY;

  async function work(): Promise<void> {
    while (mustLookAgain && !signal.aborted) {
      mustLookAgain = false;
      while (!signal.aborted && (await deliverStep(core, owner, clock.nowMs(), signal))) {
        await nextTurn();
      }
      nextLookMs = await core.store.nextDueMs();
    }
  }

  function look(): void {
    if (signal.aborted) return;
    mustLookAgain = true;
    running ??= work()
      .catch((fault: unknown) => {
        // What is unfinished stays in the store; the next bell tries again.
        nextLookMs = Number.NEGATIVE_INFINITY;
        log.error('delivery_fault', { reason: reasonOf(fault) });
      })
      .finally(() => {
        running = null;
        if (mustLookAgain && !signal.aborted) setImmediate(look);
      });
  }

  return {
    look,
    ring: async () => {
      const foreignChanges = await core.store.foreignChanges();
      const isForeign = foreignChanges !== toldForeignChanges;
      if (isForeign || (nextLookMs !== null && nextLookMs <= clock.nowMs())) look();
      if (!isForeign) return;
      await tellEverybody(core);
      // Only now: a bell that fails half way is made up for by the next.
      toldForeignChanges = foreignChanges;
    },
    stop: async () => {
      stopping.abort();
      await running;
      await core.store.releaseWork(owner);
    },
  };
}

/** The delivery worker of this process: puts messages into inboxes, one bounded step at a time. */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import type { Core } from '../core/core.ts';
import { deliverStep, wakeDevices } from '../core/message/deliver.ts';
import { isAway } from '../core/port/store.ts';
import { nextTurn } from '../core/turn.ts';
import { WakeLoop } from './wake-loop.ts';

export interface Worker {
  /** Delivers what is due, and once more if that is in progress. */
  wake(): void;
  /** Wakes the worker if something is due, and repeats signals that failed; once a second. */
  tick(): Promise<void>;
  /** Lets the current step end and releases the worker's leases. */
  stop(): Promise<void>;
}

/**
 * Makes a worker that claims work under a name of its own. Make it before any client polls: from
 * then on it passes on the changes of other processes.
 */
export function makeWorker(core: Core, clock: Clock, log: Log): Worker {
  let owner: string | null = null;
  const stopping = new AbortController();
  const { signal } = stopping;
  let mustSignalAll = false;

  const onFault = (fault: unknown): void => {
    if (!isAway(fault)) log.error('delivery_fault', { reason: reasonOf(fault) });
  };

  const loop = new WakeLoop({
    core,
    clock,
    onFault,
    work: async () => {
      owner ??= await core.store.nameWorker();
      while (!signal.aborted && (await deliverStep(core, owner, clock.nowMs(), signal))) {
        await nextTurn();
      }
      return core.store.findNextDueMs();
    },
  });

  /** Wakes the polls and streams of devices; after a fault the next tick wakes all of them. */
  async function signalDevices(deviceIds: readonly number[] | 'all'): Promise<void> {
    try {
      await wakeDevices(core, deviceIds);
    } catch (fault) {
      mustSignalAll = true;
      onFault(fault);
    }
  }

  const stopWatching = core.store.watch((deviceIds) => {
    loop.wake();
    core.signals.outboxFilled();
    void signalDevices(deviceIds);
  });

  return {
    wake: () => loop.wake(),
    tick: async () => {
      loop.tick();
      if (!mustSignalAll) return;
      mustSignalAll = false;
      await signalDevices('all');
    },
    stop: async () => {
      stopWatching();
      stopping.abort();
      await loop.stop();
      if (owner !== null) await core.store.releaseWork(owner);
    },
  };
}

/** Troubles of a database that are no faults of the program: locks of others, and a full disk. */

import { systemClock } from '../base/clock.ts';
import { StoreBusy, StoreFull, type Trouble } from '../core/port/store.ts';
import type { StoreOptions } from './kind.ts';

/** Shortest time between two reports of a trouble, ms. */
const REPORT_MS = 60_000;
/** Time for which the holder of a lock is taken as known, ms: many calls may fail at once. */
const KNOWN_MS = 1_000;

export class Troubles<Holder> {
  readonly #reportedMs = new Map<Trouble, number>();
  #holder: { is: Holder; sinceMs: number } | null = null;

  /** `find` returns who holds the lock, as far as known. */
  constructor(
    private readonly find: () => Holder,
    private readonly onTrouble: StoreOptions['onTrouble'],
  ) {}

  /** Returns who holds the lock. */
  holder(): Holder {
    const nowMs = systemClock.steadyMs();
    if (this.#holder === null || nowMs - this.#holder.sinceMs >= KNOWN_MS) {
      this.#holder = { is: this.find(), sinceMs: nowMs };
    }
    return this.#holder.is;
  }

  /** Makes the fault of a call that another process's lock held up, and reports it. */
  busy(problem: string): StoreBusy {
    this.#report('busy', problem);
    return new StoreBusy(problem);
  }

  /** Makes the fault of a call for which the disk has no room, and reports it. */
  full(problem: string): StoreFull {
    this.#report('full', problem);
    return new StoreFull(problem);
  }

  #report(trouble: Trouble, problem: string): void {
    const nowMs = systemClock.steadyMs();
    const sinceMs = nowMs - (this.#reportedMs.get(trouble) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs < REPORT_MS) return;
    this.#reportedMs.set(trouble, nowMs);
    this.onTrouble?.(trouble, problem);
  }
}

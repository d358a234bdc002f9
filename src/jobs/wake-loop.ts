/**
 * A loop of work that one process runs once at a time: after each commit that may have made work,
 * and by the clock when work falls due. While nothing is due a tick costs no query.
 */

import type { Clock } from '../base/clock.ts';
import type { Core } from '../core/core.ts';
import { nextTurn } from '../core/turn.ts';

interface WakeLoopOptions {
  core: Core;
  clock: Clock;
  /** Does what is due. Returns the time at which more is due, UTC ms; null: nothing waits. */
  work(): Promise<number | null>;
  /** Receives what `work` throws; the next tick runs it again. */
  onFault(fault: unknown): void;
}

export class WakeLoop {
  #mustRun = false;
  #isStopping = false;
  #running: Promise<void> | null = null;
  #dueAtMs: number | null = Number.NEGATIVE_INFINITY;
  #ranAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: WakeLoopOptions) {}

  /** Runs the work, and once more if it runs already. */
  wake(): void {
    if (this.#isStopping) return;
    this.#mustRun = true;
    this.#running ??= Promise.resolve()
      // The signal may come from a provider's call: the work must not count as the provider's.
      .then(() => this.options.core.store.onBehalfOf('jobs', String, () => this.#run()))
      .catch((fault: unknown) => {
        this.#dueAtMs = Number.NEGATIVE_INFINITY;
        this.options.onFault(fault);
      })
      .finally(() => {
        this.#running = null;
        if (this.#mustRun) setImmediate(() => this.wake());
      });
  }

  /** Wakes the loop if work is due; to be called once a second. */
  tick(): void {
    if (this.#dueAtMs === null) return;
    const nowMs = this.options.clock.nowMs();
    // A clock that was set back would put work off for as long as it was set back.
    if (this.#dueAtMs <= nowMs || nowMs < this.#ranAtMs) this.wake();
  }

  /** Lets a run that is in progress end, and starts no other. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#mustRun && !this.#isStopping) {
      this.#mustRun = false;
      this.#ranAtMs = this.options.clock.nowMs();
      this.#dueAtMs = await this.options.work();
      await nextTurn();
    }
  }
}

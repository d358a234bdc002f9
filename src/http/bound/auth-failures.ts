/**
 * Failed authentications, counted by client. A key has 192 random bits, so guessing is hopeless and
 * a lock-out would only help an attacker: valid credentials always work at once, and beyond the
 * limit of a minute each failing answer is delayed.
 */

import type { Log } from '../../log.ts';
import { MinuteCounter, MinuteLine } from './limiter.ts';

/** The delay of a failing answer, ms. */
export const FAILURE_DELAY_MS = 1_000;

export class AuthFailures {
  /** Answers that were delayed since the start. */
  delayedCount = 0;
  readonly #counter = new MinuteCounter();
  readonly #line = new MinuteLine();

  constructor(
    private readonly settings: { readonly authFailuresPerMinuteMax: number },
    private readonly log: Log,
  ) {}

  /** Counts a failure of `client`; returns the delay of its answer, ms. */
  record(client: string, nowMs: number): number {
    const { authFailuresPerMinuteMax } = this.settings;
    if (this.#counter.count(client, nowMs) <= authFailuresPerMinuteMax) return 0;
    this.delayedCount += 1;
    const answers = this.#line.due(nowMs);
    if (answers > 0) this.log.warn('auth_failures_delayed', { client, answers });
    return FAILURE_DELAY_MS;
  }
}

/**
 * Failed credentials, counted per client. A key has 192 random bits, so guessing is hopeless and a
 * lock-out would only help an attacker: valid credentials always work at once, and beyond a number
 * a minute each failing answer is merely late.
 */

import type { Log } from '../../log.ts';
import { MinuteCounter } from './limiter.ts';

/** The delay of a failing answer, ms. */
export const FAILURE_DELAY_MS = 1_000;

const LOG_INTERVAL_MS = 60_000;

interface AuthFailureSettings {
  readonly authFailuresPerMinuteMax: number;
}

export class AuthFailures {
  /** Answers that were delayed since the start. */
  delayedCount = 0;
  readonly #counter = new MinuteCounter();
  readonly #settings: AuthFailureSettings;
  readonly #log: Log;
  #lastLogMs = Number.NEGATIVE_INFINITY;
  #delayedSinceLog = 0;

  constructor(settings: AuthFailureSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Counts a failure of `client`; returns the delay of its answer, ms. */
  record(client: string, nowMs: number): number {
    const { authFailuresPerMinuteMax } = this.#settings;
    if (this.#counter.count(client, nowMs) <= authFailuresPerMinuteMax) return 0;
    this.delayedCount += 1;
    this.#delayedSinceLog += 1;
    if (Math.abs(nowMs - this.#lastLogMs) >= LOG_INTERVAL_MS) {
      this.#log.warn('auth_failures_delayed', { client, answers: this.#delayedSinceLog });
      this.#lastLogMs = nowMs;
      this.#delayedSinceLog = 0;
    }
    return FAILURE_DELAY_MS;
  }
}

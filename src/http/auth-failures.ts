/**
 * Failed credentials, counted per client. A key has 192 random bits, so guessing is hopeless and a
 * lock-out would only help an attacker: valid credentials always work at once, and beyond a number
 * a minute each failing answer is merely late.
 */

import type { Log } from '../log.ts';

/** How late a failing answer is, ms. */
export const FAILURE_DELAY_MS = 1_000;

const WINDOW_MS = 60_000;
/** Clients remembered at a time; the longest known is forgotten first. */
const CLIENTS_MAX = 10_000;

interface Window {
  startMs: number;
  count: number;
}

export class AuthFailures {
  readonly #windows = new Map<string, Window>();
  readonly #perMinuteMax: number;
  readonly #log: Log;
  #lastLogMs = Number.NEGATIVE_INFINITY;
  #delayedSinceLog = 0;

  constructor(perMinuteMax: number, log: Log) {
    this.#perMinuteMax = perMinuteMax;
    this.#log = log;
  }

  /** Counts a failure of `client`; returns how late to answer it, ms. */
  record(client: string, nowMs: number): number {
    const window = this.#windowOf(client, nowMs);
    window.count += 1;
    if (window.count <= this.#perMinuteMax) return 0;
    this.#delayedSinceLog += 1;
    if (nowMs - this.#lastLogMs >= WINDOW_MS) {
      this.#log.warn('auth_failures_delayed', { client, answers: this.#delayedSinceLog });
      this.#lastLogMs = nowMs;
      this.#delayedSinceLog = 0;
    }
    return FAILURE_DELAY_MS;
  }

  #windowOf(client: string, nowMs: number): Window {
    const known = this.#windows.get(client);
    // A clock set back starts a new window too, or it would never end.
    if (known && nowMs >= known.startMs && nowMs - known.startMs < WINDOW_MS) return known;
    const window = { startMs: nowMs, count: 0 };
    this.#windows.delete(client);
    this.#windows.set(client, window);
    if (this.#windows.size > CLIENTS_MAX) {
      const oldest = this.#windows.keys().next().value;
      if (oldest !== undefined) this.#windows.delete(oldest);
    }
    return window;
  }
}

/**
 * What is known of the pace of destinations: how long they take for an answer, as whoever keeps
 * others waiting is known for it, also if the answer is a good one in the end; and how often they
 * may be called.
 */

import { Throttle } from './throttle.ts';

/** Mean time of an attempt above which a destination is slow, ms. */
const SLOW_MS = 1_000;
/** The weight of the latest attempt. */
const WEIGHT = 1 / 5;
/** Destinations that are remembered, those that were tried last. */
const COUNT_MAX = 2_000;

export class Paces {
  readonly #meanMs = new Map<number, number>();
  readonly #throttles = new Map<number, Throttle>();

  note(destinationId: number, tookMs: number): void {
    const beforeMs = this.#meanMs.get(destinationId) ?? tookMs;
    this.#meanMs.delete(destinationId);
    this.#meanMs.set(destinationId, beforeMs + (tookMs - beforeMs) * WEIGHT);
    if (this.#meanMs.size <= COUNT_MAX) return;
    const [oldest] = this.#meanMs.keys();
    if (oldest !== undefined) this.#meanMs.delete(oldest);
  }

  isSlow(destinationId: number): boolean {
    return (this.#meanMs.get(destinationId) ?? 0) > SLOW_MS;
  }

  /** The throttle of a destination, which stays as it is from one run to the next. */
  throttleOf(destinationId: number, spacingMs: number): Throttle {
    const throttle = this.#throttles.get(destinationId) ?? new Throttle(spacingMs);
    this.#throttles.delete(destinationId);
    this.#throttles.set(destinationId, throttle);
    const [oldest] = this.#throttles.keys();
    if (this.#throttles.size > COUNT_MAX && oldest !== undefined) this.#throttles.delete(oldest);
    return throttle;
  }

  /** All that are slow. */
  slow(): number[] {
    return [...this.#meanMs.keys()].filter((id) => this.isSlow(id));
  }
}

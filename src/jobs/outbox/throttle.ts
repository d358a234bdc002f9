/**
 * How often a destination may be called. A receiver says with 429 that calls come too fast, and
 * when the next one may come; its pace is learnt from that, so that the events of a burst arrive
 * one after the other and are not refused each time. Times are steady ones, ms.
 */

import type { Verdict } from '../../core/outbox/carrier.ts';
import { KEPT_PAUSE_MAX_MS } from '../../core/outbox/judge.ts';

/**
 * Calls that went well in a row from which on nothing is learnt: a receiver that takes so many at
 * once (as many as it likes in a minute, say) refuses few, and waiting alone is faster.
 */
const FEW = 5;
/** Calls that go well in a row before the next ones come faster; and before that is tried anew. */
const STEADY_COUNT = 5;
const ANEW_COUNT = 40;
/** The share of the time between two calls that is not worth another refusal. */
const CLOSE = 0.1;
/** By how much calls come slower after another refusal, if no more is known. */
const SLOWER = 1.5;
const SPACING_MAX_MS = 60_000;
/** The least pause; after some refusals in a row it grows. */
const PAUSE_MIN_MS = 100;
const PATIENT_COUNT = 2;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 5 * 60_000;
/** Pause after an attempt for which there was no place, ms. */
const BUSY_PAUSE_MS = 1_000;

export class Throttle {
  /** Between the beginnings of two calls; the least: no pace is known. */
  #spacingMs: number;
  /** The longest that was too short, and one that was long enough: the pace is between them. */
  #tooShortMs = 0;
  #enoughMs: number | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** Calls that went well since the last refusal, and when the first of them began. */
  #goodCount = 0;
  #goodSinceMs: number | null = null;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #refusedInARow = 0;

  /** `leastMs`: the least time between two calls, whatever is learnt. */
  constructor(private readonly leastMs: number) {
    this.#spacingMs = leastMs;
  }

  /** True: it was refused of late, and takes one call at a time until more is known. */
  get isCareful(): boolean {
    return this.#refusedInARow > 0 || (this.#refusedAtMs > 0 && this.#goodCount < FEW);
  }

  /** The time until the next call may begin, ms; 0: it may now. */
  waitMs(nowMs: number): number {
    return Math.max(0, Math.ceil(this.#nextAtMs - nowMs));
  }

  begin(nowMs: number): void {
    if (this.#spacingMs === 0) return;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + this.#spacingMs;
  }

  /**
   * Follows what came of a call; returns it with the wait that follows. `isReceiver`: there is one
   * behind the destination; a gateway asks for a wait for one device or for some, and others go on.
   */
  heed(verdict: Verdict, call: { beganMs: number; endedMs: number }, isReceiver: boolean): Verdict {
    const { beganMs, endedMs } = call;
    if (verdict.verdict === 'busy') this.#pause(endedMs + BUSY_PAUSE_MS);
    if (verdict.verdict === 'accepted') this.accept(beganMs);
    if (verdict.verdict !== 'wait' || !isReceiver) return verdict;
    return { ...verdict, afterMs: this.refuse(beganMs, endedMs, verdict.afterMs) };
  }

  /** Notes a call that went well. */
  accept(beganMs: number): void {
    this.#goodSinceMs ??= beganMs;
    this.#goodCount += 1;
    this.#refusedInARow = 0;
    if (this.#spacingMs <= this.leastMs || this.#goodCount % STEADY_COUNT !== 0) return;
    this.#enoughMs = this.#spacingMs;
    if (this.#goodCount % ANEW_COUNT === 0) this.#tooShortMs /= 2;
    if (this.#spacingMs - this.#tooShortMs <= this.#spacingMs * CLOSE) return;
    this.#spacingMs = Math.max(this.leastMs, (this.#spacingMs + this.#tooShortMs) / 2);
  }

  /** Notes a refusal; returns the pause that follows, which is `askedMs` at least. */
  refuse(beganMs: number, nowMs: number, askedMs: number): number {
    // Calls that were under way together were refused for the same reason.
    const isAnother = beganMs > this.#refusedAtMs;
    if (isAnother) this.#refusedInARow += 1;
    const excess = this.#refusedInARow - PATIENT_COUNT;
    const patienceMs = excess > 0 ? PAUSE_FIRST_MS * 2 ** (excess - 1) : PAUSE_MIN_MS;
    const leastMs = Math.min(patienceMs, PAUSE_MAX_MS);
    const pauseMs = Math.max(askedMs, leastMs);
    if (isAnother) this.#learn(nowMs + pauseMs);
    this.#refusedAtMs = nowMs;
    // A longer one is noted in the store, where it can be ended.
    this.#pause(nowMs + Math.min(pauseMs, KEPT_PAUSE_MAX_MS));
    return pauseMs;
  }

  /** Lets no call begin before a time. */
  #pause(untilMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, untilMs);
  }

  /** Learns from a refusal; `untilMs`: the end of the pause that follows. */
  #learn(untilMs: number): void {
    // What went well is all that the receiver takes until the pause is over.
    const isFew = this.#goodSinceMs !== null && this.#goodCount < FEW;
    const meanMs = isFew ? (untilMs - (this.#goodSinceMs ?? untilMs)) / this.#goodCount : null;
    const isKnown = this.#spacingMs > this.leastMs;
    if (isKnown) this.#tooShortMs = this.#spacingMs;
    const slowerMs = Math.min(meanMs ?? Number.POSITIVE_INFINITY, this.#spacingMs * SLOWER);
    const nextMs = isKnown ? (this.#enoughMs ?? slowerMs) : (meanMs ?? this.leastMs);
    this.#spacingMs = Math.min(Math.max(nextMs, this.#spacingMs), SPACING_MAX_MS);
    this.#enoughMs = null;
    this.#goodSinceMs = null;
    this.#goodCount = 0;
  }
}

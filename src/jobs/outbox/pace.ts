/**
 * The pace of a destination: how long it takes to answer, and how often it may be called. A
 * receiver that gets too many calls answers 429 with the time of the next one. The pace adapts to
 * that, so that a burst of events arrives one by one instead of being refused. All times are steady
 * ones, ms.
 */

import type { AttemptVerdict } from '../../core/outbox/carrier.ts';
import { KEPT_PAUSE_MAX_MS } from '../../core/outbox/judge.ts';

/** The mean time of an answer above which a destination is slow, and the weight of the latest. */
const SLOW_MS = 1_000;
const WEIGHT = 1 / 5;
/**
 * Accepted calls in a row from which on a refusal teaches nothing: a receiver that accepts as many
 * at once has a budget (20 a minute, say), and it is fastest to use it up and wait.
 */
const FEW = 5;
/**
 * The number of accepted calls in a row before calls come faster and a refused pace is tried again.
 */
const STEADY_COUNT = 5;
const ANEW_COUNT = 40;
/** The share of the spacing that is not worth another refusal. */
const CLOSE = 0.1;
/** The factor by which calls slow down after a refusal from which nothing else is known. */
const SLOWER = 1.5;
const SPACING_MAX_MS = 60_000;
/** The least pause after a refusal, which grows after some refusals in a row. */
const PAUSE_MIN_MS = 100;
const PATIENT_COUNT = 2;
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 5 * 60_000;
/** The pause after an attempt that got no place at the host. */
const BUSY_PAUSE_MS = 1_000;

export class Pace {
  #meanMs: number | null = null;
  /** The time between the beginnings of two calls. */
  #spacingMs: number;
  /** The longest spacing that was refused, and one that was accepted: the pace is between them. */
  #tooShortMs = 0;
  #enoughMs: number | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** Accepted calls since the last refusal, and the beginning of the first of them. */
  #goodCount = 0;
  #goodSinceMs: number | null = null;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #refusedInARow = 0;

  /** `leastMs`: the least spacing, whatever is learnt. */
  constructor(private readonly leastMs: number) {
    this.#spacingMs = leastMs;
  }

  /** True: its answers take long, even if they are good. */
  get isSlow(): boolean {
    return (this.#meanMs ?? 0) > SLOW_MS;
  }

  /** True: it refused a call recently, and gets one call at a time until more is known. */
  get isCareful(): boolean {
    return this.#refusedInARow > 0 || (this.#refusedAtMs > 0 && this.#goodCount < FEW);
  }

  /** Returns the time until the next call may begin; 0: now. */
  waitMs(nowMs: number): number {
    return Math.max(0, Math.ceil(this.#nextAtMs - nowMs));
  }

  /** Notes that a call begins. */
  begin(nowMs: number): void {
    if (this.#spacingMs === 0) return;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + this.#spacingMs;
  }

  /**
   * Learns from a call; returns its verdict with the wait that applies. `isReceiver`: the
   * destination is one receiver; at a gateway a wait is about one device, and other calls continue.
   */
  observe(
    verdict: AttemptVerdict,
    { beganMs, endedMs }: { beganMs: number; endedMs: number },
    isReceiver: boolean,
  ): AttemptVerdict {
    if (verdict.verdict === 'busy') {
      this.#pause(endedMs + BUSY_PAUSE_MS);
      return verdict;
    }
    const tookMs = endedMs - beganMs;
    this.#meanMs = (this.#meanMs ?? tookMs) * (1 - WEIGHT) + tookMs * WEIGHT;
    if (verdict.verdict === 'accepted') this.accept(beganMs);
    if (verdict.verdict !== 'wait' || !isReceiver) return verdict;
    return { ...verdict, afterMs: this.refuse(beganMs, endedMs, verdict.afterMs) };
  }

  /** Notes an accepted call. */
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

  /** Notes a refused call; returns the pause that follows, `askedMs` or more. */
  refuse(beganMs: number, nowMs: number, askedMs: number): number {
    // Calls that were in progress together were refused for the same reason.
    const isAnother = beganMs > this.#refusedAtMs;
    if (isAnother) this.#refusedInARow += 1;
    const excess = this.#refusedInARow - PATIENT_COUNT;
    const patienceMs = excess > 0 ? PAUSE_FIRST_MS * 2 ** (excess - 1) : PAUSE_MIN_MS;
    const pauseMs = Math.max(askedMs, Math.min(patienceMs, PAUSE_MAX_MS));
    if (isAnother) this.#learn(nowMs + pauseMs);
    this.#refusedAtMs = nowMs;
    // The store keeps a longer pause, where the owner can end it.
    this.#pause(nowMs + Math.min(pauseMs, KEPT_PAUSE_MAX_MS));
    return pauseMs;
  }

  #pause(untilMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, untilMs);
  }

  /** Learns from a refusal whose pause ends at `untilMs`. */
  #learn(untilMs: number): void {
    // The accepted calls are all that the receiver takes until the pause ends.
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

/** Destinations whose pace is remembered from one run to the next. */
const COUNT_MAX = 2_000;

export class Paces {
  /** In the order of their last run. */
  readonly #paces = new Map<number, Pace>();

  /** Returns the pace of a destination, a new one if none is remembered. */
  of(destinationId: number, leastMs: number): Pace {
    const pace = this.#paces.get(destinationId) ?? new Pace(leastMs);
    this.#paces.delete(destinationId);
    this.#paces.set(destinationId, pace);
    const [oldest] = this.#paces.keys();
    if (this.#paces.size > COUNT_MAX && oldest !== undefined) this.#paces.delete(oldest);
    return pace;
  }

  /** Returns the slow destinations, the one that was served longest ago first. */
  slow(): number[] {
    return [...this.#paces].flatMap(([id, { isSlow }]) => (isSlow ? [id] : []));
  }
}

/**
 * A run serves one destination that this process holds: it reads what is due and makes several
 * attempts at a time. It ends when nothing is due, when attempts fail, or when other destinations
 * wait for its turn. While outcomes cannot be saved it makes no attempt, so that a full disk
 * repeats no more than the attempts that were in progress.
 */

import type { Clock } from '../../base/clock.ts';
import type { Leave, NoPlace } from '../../base/queue.ts';
import type { Core } from '../../core/core.ts';
import { decideAttempt, decideTrial, type Judgement } from '../../core/outbox/judge.ts';
import type {
  Destination,
  DestinationHealth,
  Dispatch,
  EventDispatch,
  OutboxStore,
} from '../../core/port/outbox.ts';
import type { AttemptResult } from './dispatcher.ts';
import { DueQueue } from './due-queue.ts';
import { Outcomes } from './outcomes.ts';
import type { Pace, Paces } from './pace.ts';

/** Bounds of a page, which holds four dispatches for each attempt at a time. */
const PAGE_MIN = 16;
const PAGE_MAX = 256;
/** Failures in a row after which a run among others ends. */
const FAILURES_MAX = 4;
/** The longest wait for the pace of the destination before the lease is checked, ms. */
const WAIT_MAX_MS = 5_000;

export interface RunHost {
  store: Pick<OutboxStore, 'hastenDispatches' | 'listDispatches' | 'settleDispatches'>;
  clock: Clock;
  leastMs: Core['leastMs'];
  owner: string;
  random: () => number;
  paces: Paces;
  /** Most attempts at a time. */
  concurrency: number;
  /** Least time between two attempts, ms. */
  spacingMs: number;
  /** True: other destinations of its kind share the places. */
  isShared: boolean;
  /** Waits for a place for one attempt. Resolves with a reason if there is none. */
  takePlace(run: OutboxRun): Promise<Leave | NoPlace>;
  /** Returns whether a run that began then (steady time) must end for waiting ones. */
  mustYield(beganMs: number): boolean;
  /** Makes one attempt; null: there is no gateway or webhook for it. Never rejects. */
  attempt(dispatch: Dispatch): Promise<AttemptResult | null>;
  /** Requests a save of the run soon, together with those of other runs. */
  saveSoon(run: OutboxRun): void;
  /** Receives the health before and after an attempt. */
  onHealth(destination: Destination, before: DestinationHealth, after: DestinationHealth): void;
  /** Called for an event that gets no further attempt. */
  onGivenUp(dispatch: EventDispatch, problem: string): void;
  onFault(fault: unknown): void;
  onSaved(): void;
  onEnd(run: OutboxRun): void;
}

export class OutboxRun {
  /** True: the run found a dispatch. Only the run sets it. */
  hasFound = false;
  readonly #due: DueQueue;
  readonly #outcomes: Outcomes;
  readonly #pace: Pace;
  readonly #beganMs: number;
  #health: DestinationHealth;
  /** True: the destination was stopped, and no attempt was made since. */
  #isTrial: boolean;
  #isLoading = false;
  #isAwaitingPlace = false;
  #inProgressCount = 0;
  /** The time of the next step that a timer makes; null: none does. */
  #wakesAtMs: number | null = null;
  /** True: no further attempt begins. */
  #isClosed = false;
  #isOver = false;

  constructor(
    readonly destination: Destination,
    private readonly host: RunHost,
  ) {
    const { store, clock, owner, onFault, onSaved } = host;
    const { id: destinationId, failureCount, retryAtMs, stoppedAtMs } = destination;
    this.#health = destination;
    this.#isTrial = stoppedAtMs !== null;
    this.#due = new DueQueue({
      store,
      clock,
      destinationId,
      pageSize: Math.min(PAGE_MAX, Math.max(PAGE_MIN, host.concurrency * 4)),
      // Every other probe: dispatches that failed before may be the reason of the failures.
      beginsWithNew: retryAtMs > 0 && failureCount % 2 === 0,
    });
    this.#beganMs = clock.steadyMs();
    this.#pace = host.paces.of(destinationId, host.spacingMs);
    const outcomes = {
      store,
      clock,
      owner,
      destinationId,
      onFault,
      onSaved,
      saveSoon: () => host.saveSoon(this),
      onChange: () => this.#step(),
      onLost: () => this.close(),
    };
    this.#outcomes = new Outcomes(outcomes, destination);
  }

  get isFailing(): boolean {
    return this.#health.failureCount > 0;
  }

  get isSlow(): boolean {
    return this.host.isShared && this.#pace.isSlow;
  }

  /** Begins; to be called once. */
  start(): void {
    this.#step();
  }

  /** Reads additions soon, also while attempts are in progress. */
  wake(): void {
    this.#due.noteAdditions();
    this.#step();
  }

  /** Begins no further attempt; those in progress end and are saved. */
  close(): void {
    this.#isClosed = true;
    this.#due.clear();
    this.#step();
  }

  /** Closes, and drops outcomes that cannot be saved: the process ends. */
  abandon(): void {
    this.#outcomes.abandon();
    this.close();
  }

  /** Saves the outcomes of the attempts so far. */
  save(): void {
    if (!this.#outcomes.isSaved) this.#outcomes.save();
  }

  /** Takes the next step that the state requires; called after each change of the state. */
  #step(): void {
    if (this.#isOver) return;
    if (!this.#isClosed && this.host.mustYield(this.#beganMs)) {
      this.#isClosed = true;
      this.#due.clear();
    }
    if (this.#mustSave()) this.#outcomes.save();
    if (this.#isClosed) {
      this.#isOver = this.#isAtRest();
      if (this.#isOver) this.host.onEnd(this);
    } else if (this.#mustLoad()) {
      void this.#load();
    } else if (this.#mayBegin()) {
      if (!this.#isAwaitingPlace) void this.#begin();
    } else {
      const waitMs = this.#waitMs();
      if (waitMs > 0) this.#stepIn(Math.min(waitMs, WAIT_MAX_MS));
    }
  }

  /** Returns the time after which time alone may allow another step, ms; 0: never. */
  #waitMs(): number {
    if (!this.#hasRoom()) return 0;
    if (this.#due.length === 0) return this.#due.rereadMs();
    return this.#pace.waitMs(this.host.clock.steadyMs());
  }

  #stepIn(ms: number): void {
    const atMs = this.host.clock.steadyMs() + ms;
    if (this.#wakesAtMs !== null && this.#wakesAtMs <= atMs) return;
    this.#wakesAtMs = atMs;
    void this.host.clock.sleep(ms).then(() => {
      if (this.#wakesAtMs === atMs) this.#wakesAtMs = null;
      this.#step();
    });
  }

  #isAtRest(): boolean {
    return this.#isIdle() && !this.#isLoading;
  }

  /** Returns whether no attempt is in progress and every outcome is saved. */
  #isIdle(): boolean {
    return this.#inProgressCount === 0 && this.#outcomes.isSaved;
  }

  #mayBegin(): boolean {
    if (this.#isClosed || this.#due.length === 0 || !this.#hasRoom()) return false;
    return this.#pace.waitMs(this.host.clock.steadyMs()) === 0;
  }

  #hasRoom(): boolean {
    return this.#outcomes.mayGrow && this.#inProgressCount < this.#concurrency();
  }

  /** Returns 1 for a probe after a pause, and for a destination that fails beside others. */
  #concurrency(): number {
    const { concurrency, isShared } = this.host;
    const { failureCount, retryAtMs } = this.#health;
    const isAlone = this.#isTrial || retryAtMs > 0 || this.#pace.isCareful;
    return isAlone || (isShared && failureCount > 0) ? 1 : concurrency;
  }

  #mustSave(): boolean {
    const outcomes = this.#outcomes;
    if (outcomes.isPressing) return true;
    if (!this.#isClosed && this.#due.length > 0) return !outcomes.isLeaseFresh;
    // No further outcome will come to save with these.
    const isLast = this.#isClosed || !this.#due.hasNextPage;
    return !outcomes.isSaved && isLast && this.#inProgressCount === 0 && !this.#isLoading;
  }

  #mustLoad(): boolean {
    const mayLoad = !this.#isLoading && this.#outcomes.mayGrow;
    return mayLoad && this.#due.mustRead(this.#isAtRest(), this.#hasRoom());
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      const { found, isEmpty } = await this.#due.read(this.#outcomes.ids(), () => !this.#isClosed);
      if (found.length > 0) this.hasFound = true;
      else if (isEmpty && this.#isIdle()) this.#isClosed = true;
      if (!this.#isClosed) this.#enqueue(found);
    } catch (fault) {
      this.#isClosed = true;
      this.#due.clear();
      this.host.onFault(fault);
    }
    this.#isLoading = false;
    this.#step();
  }

  /** Queues dispatches; settles pushes that are moot, which need no attempt. */
  #enqueue(found: readonly Dispatch[]): void {
    for (const dispatch of found) {
      if (dispatch.kind === 'push' && dispatch.moot !== null) {
        this.#outcomes.add({ id: dispatch.id, outcome: 'moot' });
      } else {
        this.#due.add(dispatch);
      }
    }
  }

  /** Waits for a place and begins the next attempt, if there still is one that may begin. */
  async #begin(): Promise<void> {
    this.#isAwaitingPlace = true;
    const leave = await this.host.takePlace(this);
    this.#isAwaitingPlace = false;
    if (typeof leave !== 'string') {
      const dispatch = this.#mayBegin() ? this.#due.take() : undefined;
      if (dispatch === undefined) leave();
      else void this.#attempt(dispatch).finally(leave);
    }
    this.#step();
  }

  async #attempt(dispatch: Dispatch): Promise<void> {
    const { host, destination } = this;
    this.#inProgressCount += 1;
    const beganMs = host.clock.steadyMs();
    this.#pace.begin(beganMs);
    const result = await host.attempt(dispatch);
    this.#inProgressCount -= 1;
    this.#due.settle(dispatch);
    let isSettled = false;
    if (result === null) this.#isClosed = true;
    else if (result.verdict !== null) {
      const call = { beganMs, endedMs: host.clock.steadyMs() };
      const verdict = this.#pace.observe(result.verdict, call, destination.webhookId !== null);
      const nowMs = host.clock.nowMs();
      // By a clock that leapt ahead nothing grows old.
      const aheadMs = nowMs - host.leastMs(nowMs);
      const attempt = {
        kind: destination.kind,
        verdict,
        nowMs,
        dispatch: { ...dispatch, queuedAtMs: dispatch.queuedAtMs + aheadMs },
        expiresAtMs: result.expiresAtMs && result.expiresAtMs + aheadMs,
      };
      const decide = this.#isTrial ? decideTrial : decideAttempt;
      const judgement = decide(attempt, this.#health, host.random);
      this.#isTrial = false;
      this.#apply(judgement, nowMs);
      const { settlement } = judgement;
      isSettled = settlement !== null;
      if (dispatch.kind === 'event' && settlement?.outcome === 'failed') {
        host.onGivenUp(dispatch, settlement.problem);
      }
    }
    if (this.#isClosed) this.#due.clear();
    else if (!isSettled) this.#due.putBack(dispatch);
    this.#step();
  }

  #apply({ settlement, health, disables }: Judgement, nowMs: number): void {
    const before = this.#health;
    if (settlement !== null) this.#outcomes.add(settlement);
    if (health !== before) {
      this.#health = health;
      this.#outcomes.setHealth(health);
      this.host.onHealth(this.destination, before, health);
    }
    // The destination has recovered: what was put off meanwhile is due now.
    if (before.retryAtMs > 0 && health.retryAtMs === 0) this.#due.hasten();
    if (disables !== null && !this.#isClosed) this.#outcomes.disable(disables);
    const isBlocked = health.stoppedAtMs !== null || health.retryAtMs > nowMs;
    const hasFailed = health.failureCount > before.failureCount;
    const hasFailedLong = this.host.isShared && hasFailed && health.failureCount >= FAILURES_MAX;
    if (isBlocked || hasFailedLong || disables !== null) this.#isClosed = true;
  }
}

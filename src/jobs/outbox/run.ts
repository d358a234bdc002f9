/**
 * A run: this process holds a destination, and hands over what is due there, page by page, several
 * at a time. It ends when nothing is due, when nothing gets through, or when others have waited for
 * long enough. While outcomes cannot be saved nothing more is begun, so that a full disk costs no
 * more than repeats of what was under way.
 */

import type { Clock } from '../../clock.ts';
import { type Judgement, judgeAttempt } from '../../core/outbox/judge.ts';
import type {
  Destination,
  DestinationHealth,
  Dispatch,
  DispatchCursor,
  OutboxStore,
} from '../../core/port/outbox.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Carried } from './carry.ts';
import { Outcomes } from './outcomes.ts';
import type { Paces } from './paces.ts';
import type { Places, Taker } from './places.ts';

/** Dispatches that are read in one step: some four for each attempt at a time. */
const PAGE_MIN = 16;
const PAGE_MAX = 256;
/** Dispatches that are made due in one step. */
const HASTEN_COUNT = 1_000;
/** The position before what was not tried yet. */
const BEFORE_NEW: DispatchCursor = { nextAtMs: 0, id: 0 };
/** Failures in a row after which others have their turn. */
const FAILURES_MAX = 4;

/** The surroundings of a run. */
export interface RunHost {
  store: Pick<OutboxStore, 'hastenDispatches' | 'listDispatches' | 'settleDispatches'>;
  clock: Clock;
  owner: string;
  random: () => number;
  places: Places;
  paces: Paces;
  /** Most attempts at a time. */
  concurrency: number;
  /** True: others of its kind share the places, so that a failing one has one of them. */
  isShared: boolean;
  /** True: more may wait for a run than there may be, and this one, begun then, had its time. */
  mustYield(beganMs: number): boolean;
  /** Hands over once; null: there is nobody who could, or who wants it. Never rejects. */
  carry(dispatch: Dispatch): Promise<Carried | null>;
  /** Has `save` of the run called soon, together with those of other runs. */
  saveSoon(run: OutboxRun): void;
  /** Hears of the health before and after an attempt. */
  onHealth(destination: Destination, before: DestinationHealth, after: DestinationHealth): void;
  onDisabled(destination: Destination, why: string): void;
  onFault(fault: unknown): void;
  onSaved(): void;
  /** Hears that the run is over. */
  onEnd(run: OutboxRun): void;
}

export class OutboxRun implements Taker {
  #queue: Dispatch[] = [];
  #cursor: DispatchCursor | null = null;
  /** True: another page may follow; false: the last one was read, and it begins anew at the end. */
  #hasNextPage = true;
  #isLoading = false;
  #hasFound = false;
  #underWayCount = 0;
  #health: DestinationHealth;
  /** Failures that are left before others have their turn. */
  #patience: number;
  /** It is well again: whatever was put off while it was not is due now. */
  #hasRecovered = false;
  /** Nothing more is begun. */
  #isClosed = false;
  #isOver = false;
  readonly #beganMs: number;
  readonly #outcomes: Outcomes;

  constructor(
    readonly destination: Destination,
    private readonly host: RunHost,
  ) {
    const { store, clock, owner, onFault, onSaved } = host;
    this.#health = destination;
    this.#patience = destination.failureCount > 0 ? 1 : FAILURES_MAX;
    // A probe tries what is new every other time: what failed before may fail by its own fault.
    const { failureCount, retryAtMs } = destination;
    if (retryAtMs > 0 && failureCount % 2 === 0) this.#cursor = BEFORE_NEW;
    this.#beganMs = clock.steadyMs();
    const outcomes = {
      ...{ store, clock, owner, destinationId: destination.id, onFault, onSaved },
      saveSoon: () => host.saveSoon(this),
      onChange: () => this.#turn(),
      onLost: () => this.close(),
    };
    this.#outcomes = new Outcomes(outcomes, destination);
  }

  get isFailing(): boolean {
    return this.#health.failureCount > 0;
  }

  /** True: there was something to do. */
  get hasFound(): boolean {
    return this.#hasFound;
  }

  get isSlow(): boolean {
    return this.host.isShared && this.host.paces.isSlow(this.destination.id);
  }

  /** Begins; to be called once. */
  start(): void {
    this.#turn();
  }

  /** Begins nothing more: what is under way ends, and is saved. */
  close(): void {
    this.#isClosed = true;
    this.#queue = [];
    this.#turn();
  }

  /** Gives up what cannot be saved now: the process ends. */
  abandon(): void {
    this.#outcomes.abandon();
    this.close();
  }

  /** Saves the outcomes that are there. */
  save(): void {
    if (!this.#outcomes.isSaved) this.#outcomes.save();
  }

  /** Begins the next attempt, if there is one and it may. */
  begin(): boolean {
    const dispatch = this.#mayBegin() ? this.#queue.shift() : undefined;
    if (dispatch === undefined) {
      // It may have waited for its place for as long as its lease is trusted.
      this.#turn();
      return false;
    }
    this.#underWayCount += 1;
    void this.#attempt(dispatch);
    return true;
  }

  /** Does whatever is next; called after each change. */
  #turn(): void {
    if (this.#isOver) return;
    if (!this.#isClosed && this.host.mustYield(this.#beganMs)) {
      this.#isClosed = true;
      this.#queue = [];
    }
    if (this.#mustSave()) this.#outcomes.save();
    if (this.#isClosed) {
      if (this.#isAtRest()) this.#end();
    } else if (this.#mustLoad()) {
      void this.#load();
    } else if (this.#mayBegin()) {
      this.host.places.want(this);
    }
  }

  #end(): void {
    this.#isOver = true;
    this.host.onEnd(this);
  }

  /** Nothing is under way, and everything is saved. */
  #isAtRest(): boolean {
    return this.#underWayCount === 0 && !this.#isLoading && this.#outcomes.isSaved;
  }

  #mayBegin(): boolean {
    if (this.#isClosed || this.#queue.length === 0 || !this.#outcomes.mayGrow) return false;
    return this.#underWayCount < this.#concurrency();
  }

  /** A probe after a pause, and an attempt of one that fails beside others, goes alone. */
  #concurrency(): number {
    const { concurrency, isShared } = this.host;
    const { failureCount, retryAtMs } = this.#health;
    if (retryAtMs > 0) return 1;
    if (failureCount === 0) return this.isSlow ? Math.ceil(concurrency / 2) : concurrency;
    return isShared ? 1 : Math.max(1, Math.floor(concurrency / 4));
  }

  #mustSave(): boolean {
    const outcomes = this.#outcomes;
    if (outcomes.isPressing) return true;
    if (!this.#isClosed && this.#queue.length > 0) return !outcomes.isLeaseFresh;
    // Nothing comes that they could wait for.
    const isLast = this.#isClosed || !this.#hasNextPage;
    return !outcomes.isSaved && isLast && this.#underWayCount === 0 && !this.#isLoading;
  }

  #mustLoad(): boolean {
    if (this.#isLoading || !this.#outcomes.mayGrow) return false;
    if (this.#hasNextPage) return this.#queue.length < this.#pageSize() / 2;
    return this.#queue.length === 0 && this.#isAtRest();
  }

  #pageSize(): number {
    return Math.min(PAGE_MAX, Math.max(PAGE_MIN, this.host.concurrency * 4));
  }

  async #load(): Promise<void> {
    const { store, clock, onFault } = this.host;
    const { id } = this.destination;
    const size = this.#pageSize();
    this.#isLoading = true;
    try {
      if (this.#hasRecovered) await this.#hasten();
      // Nothing that is under way, or not saved yet, is there when it begins anew.
      const after = this.#hasNextPage ? this.#cursor : null;
      const page = await store.listDispatches(id, clock.nowMs(), size, after);
      if (page.length > 0) this.#hasFound = true;
      else if (after === null) this.#isClosed = true;
      if (!this.#isClosed) this.#queue.push(...this.#settleMoot(page));
      this.#cursor = page.at(-1) ?? null;
      this.#hasNextPage = page.length === size;
    } catch (fault) {
      this.#isClosed = true;
      this.#queue = [];
      onFault(fault);
    }
    this.#isLoading = false;
    this.#turn();
  }

  /** Makes due what was put off, a step at a time. */
  async #hasten(): Promise<void> {
    const { store } = this.host;
    while (!this.#isClosed) {
      const count = await store.hastenDispatches(this.destination.id, HASTEN_COUNT);
      if (count < HASTEN_COUNT) break;
      await nextTurn();
    }
    this.#hasRecovered = false;
  }

  /** Settles what needs no attempt, and so no place; returns the rest. */
  #settleMoot(page: readonly Dispatch[]): Dispatch[] {
    return page.filter((dispatch) => {
      if (dispatch.kind !== 'push' || dispatch.moot === null) return true;
      this.#outcomes.add({ id: dispatch.id, outcome: 'moot' });
      return false;
    });
  }

  async #attempt(dispatch: Dispatch): Promise<void> {
    const { host, destination, isSlow } = this;
    const beganMs = host.clock.steadyMs();
    const carried = await host.carry(dispatch);
    this.#underWayCount -= 1;
    host.paces.note(destination.id, host.clock.steadyMs() - beganMs);
    if (carried === null) this.#isClosed = true;
    else if (carried.verdict !== null) {
      const { verdict, expiresAtMs } = carried;
      const nowMs = host.clock.nowMs();
      const attempt = { dispatch, kind: destination.kind, verdict, nowMs, expiresAtMs };
      this.#take(judgeAttempt(attempt, this.#health, host.random), nowMs);
    }
    if (this.#isClosed) this.#queue = [];
    this.#turn();
    host.places.giveBack(isSlow);
  }

  #take({ settlement, health, disables }: Judgement, nowMs: number): void {
    const before = this.#health;
    if (settlement !== null) this.#outcomes.add(settlement);
    if (health !== before) {
      this.#health = health;
      this.#outcomes.setHealth(health);
      this.host.onHealth(this.destination, before, health);
    }
    if (before.retryAtMs > 0 && health.retryAtMs === 0) {
      this.#hasRecovered = true;
      this.#queue = [];
      this.#hasNextPage = false;
    }
    const hasFailed = health.failureCount > before.failureCount;
    this.#patience = hasFailed ? this.#patience - 1 : FAILURES_MAX;
    if (disables !== null && !this.#isClosed) {
      this.#outcomes.disable(disables);
      this.host.onDisabled(this.destination, disables);
    }
    const isBlocked = health.stoppedAtMs !== null || health.retryAtMs > nowMs;
    const hasFailedLong = this.host.isShared && this.#patience <= 0;
    if (isBlocked || hasFailedLong || disables !== null) this.#isClosed = true;
  }
}

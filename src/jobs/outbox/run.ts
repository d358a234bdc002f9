/**
 * A run: this process holds a destination, and hands over what is due there, page by page, several
 * at a time. It ends when nothing is due, when nothing gets through, or when others have waited for
 * long enough. While outcomes cannot be saved nothing more is begun, so that a full disk costs no
 * more than repeats of what was under way.
 */

import type { Clock } from '../../clock.ts';
import { type Judgement, judgeAttempt, judgeTrial } from '../../core/outbox/judge.ts';
import type {
  Destination,
  DestinationHealth,
  Dispatch,
  OutboxStore,
} from '../../core/port/outbox.ts';
import type { Carried } from './carry.ts';
import { DueQueue } from './due-queue.ts';
import { Outcomes } from './outcomes.ts';
import type { Paces } from './paces.ts';
import type { Places, Taker } from './places.ts';
import type { Throttle } from './throttle.ts';

/** Dispatches that are read in one step: some four for each attempt at a time. */
const PAGE_MIN = 16;
const PAGE_MAX = 256;
/** Failures in a row after which others have their turn. */
const FAILURES_MAX = 4;
/** Longest time without a look at the lease, while it waits for the pace of its destination, ms. */
const TURN_MAX_MS = 5_000;

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
  /** Least time between two attempts, ms. */
  spacingMs: number;
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
  readonly #due: DueQueue;
  #isLoading = false;
  /** Time at which it turns by itself; null: it waits for something else. */
  #turnsAtMs: number | null = null;
  #hasFound = false;
  #underWayCount = 0;
  #health: DestinationHealth;
  /** Failures that are left before others have their turn. */
  #patience: number;
  /** It was stopped, and nothing was tried since. */
  #isTrial: boolean;
  /** Nothing more is begun. */
  #isClosed = false;
  #isOver = false;
  readonly #beganMs: number;
  readonly #outcomes: Outcomes;
  readonly #throttle: Throttle;

  constructor(
    readonly destination: Destination,
    private readonly host: RunHost,
  ) {
    const { store, clock, owner, onFault, onSaved } = host;
    this.#health = destination;
    this.#isTrial = destination.stoppedAtMs !== null;
    this.#patience = destination.failureCount > 0 ? 1 : FAILURES_MAX;
    // A probe tries what is new every other time: what failed before may fail by its own fault.
    const { failureCount, retryAtMs } = destination;
    this.#due = new DueQueue({
      ...{ store, clock, destinationId: destination.id },
      pageSize: Math.min(PAGE_MAX, Math.max(PAGE_MIN, host.concurrency * 4)),
      beginsWithNew: retryAtMs > 0 && failureCount % 2 === 0,
    });
    this.#beganMs = clock.steadyMs();
    this.#throttle = host.paces.throttleOf(destination.id, host.spacingMs);
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

  /** Looks soon for what was put in meanwhile, also while attempts are under way. */
  wake(): void {
    this.#due.wake();
    this.#turn();
  }

  /** Begins nothing more: what is under way ends, and is saved. */
  close(): void {
    this.#isClosed = true;
    this.#due.clear();
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
    const dispatch = this.#mayBegin() ? this.#due.take() : undefined;
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
      this.#due.clear();
    }
    if (this.#mustSave()) this.#outcomes.save();
    if (this.#isClosed) {
      if (this.#isAtRest()) this.#end();
    } else if (this.#mustLoad()) {
      void this.#load();
    } else if (this.#mayBegin()) {
      this.host.places.want(String(this.destination.id), this);
    } else {
      const waitMs = this.#waitMs();
      if (waitMs > 0) this.#turnIn(Math.min(waitMs, TURN_MAX_MS));
    }
  }

  /** The time after which there may be something to do without any other change, ms; 0: none. */
  #waitMs(): number {
    if (!this.#hasRoom()) return 0;
    if (this.#due.length === 0) return this.#due.renewalMs();
    return this.#throttle.waitMs(this.host.clock.steadyMs());
  }

  #turnIn(ms: number): void {
    const atMs = this.host.clock.steadyMs() + ms;
    if (this.#turnsAtMs !== null && this.#turnsAtMs <= atMs) return;
    this.#turnsAtMs = atMs;
    void this.host.clock.sleep(ms).then(() => {
      if (this.#turnsAtMs === atMs) this.#turnsAtMs = null;
      this.#turn();
    });
  }

  #end(): void {
    this.#isOver = true;
    this.host.onEnd(this);
  }

  /** Nothing is under way, and everything is saved. */
  #isAtRest(): boolean {
    return this.#isIdle() && !this.#isLoading;
  }

  #isIdle(): boolean {
    return this.#underWayCount === 0 && this.#outcomes.isSaved;
  }

  #mayBegin(): boolean {
    if (this.#isClosed || this.#due.length === 0 || !this.#hasRoom()) return false;
    return this.#throttle.waitMs(this.host.clock.steadyMs()) === 0;
  }

  #hasRoom(): boolean {
    return this.#outcomes.mayGrow && this.#underWayCount < this.#concurrency();
  }

  /** A probe after a pause, and an attempt of one that fails beside others, goes alone. */
  #concurrency(): number {
    const { concurrency, isShared } = this.host;
    const { failureCount, retryAtMs } = this.#health;
    if (this.#isTrial || retryAtMs > 0 || this.#throttle.isCareful) return 1;
    if (failureCount === 0) return this.isSlow ? Math.ceil(concurrency / 2) : concurrency;
    return isShared ? 1 : Math.max(1, Math.floor(concurrency / 4));
  }

  #mustSave(): boolean {
    const outcomes = this.#outcomes;
    if (outcomes.isPressing) return true;
    if (!this.#isClosed && this.#due.length > 0) return !outcomes.isLeaseFresh;
    // Nothing comes that they could wait for.
    const isLast = this.#isClosed || !this.#due.hasNextPage;
    return !outcomes.isSaved && isLast && this.#underWayCount === 0 && !this.#isLoading;
  }

  #mustLoad(): boolean {
    const mayLoad = !this.#isLoading && this.#outcomes.mayGrow;
    return mayLoad && this.#due.mustRead(this.#isAtRest(), this.#hasRoom());
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      const { found, isEmpty } = await this.#due.read(this.#outcomes.ids(), () => !this.#isClosed);
      if (found.length > 0) this.#hasFound = true;
      else if (isEmpty && this.#isIdle()) this.#isClosed = true;
      if (!this.#isClosed) this.#take(found);
    } catch (fault) {
      this.#isClosed = true;
      this.#due.clear();
      this.host.onFault(fault);
    }
    this.#isLoading = false;
    this.#turn();
  }

  /** Puts into the queue what was found; settles what needs no attempt, and so no place. */
  #take(found: readonly Dispatch[]): void {
    for (const dispatch of found) {
      if (dispatch.kind === 'push' && dispatch.moot !== null) {
        this.#outcomes.add({ id: dispatch.id, outcome: 'moot' });
      } else {
        this.#due.add(dispatch);
      }
    }
  }

  async #attempt(dispatch: Dispatch): Promise<void> {
    const { host, destination, isSlow } = this;
    const beganMs = host.clock.steadyMs();
    this.#throttle.begin(beganMs);
    const carried = await host.carry(dispatch);
    this.#underWayCount -= 1;
    this.#due.settle(dispatch);
    let isSettled = false;
    if (carried === null) this.#isClosed = true;
    else if (carried.verdict !== null) {
      const call = { beganMs, endedMs: host.clock.steadyMs() };
      const verdict = this.#throttle.heed(carried.verdict, call, destination.webhookId !== null);
      if (verdict.verdict !== 'busy') host.paces.note(destination.id, call.endedMs - beganMs);
      const nowMs = host.clock.nowMs();
      const attempt = { ...carried, dispatch, kind: destination.kind, verdict, nowMs };
      const judge = this.#isTrial ? judgeTrial : judgeAttempt;
      const judgement = judge(attempt, this.#health, host.random);
      this.#isTrial = false;
      this.#follow(judgement, nowMs);
      isSettled = judgement.settlement !== null;
    }
    if (this.#isClosed) this.#due.clear();
    else if (!isSettled) this.#due.putBack(dispatch);
    this.#turn();
    host.places.giveBack(isSlow);
  }

  #follow({ settlement, health, disables }: Judgement, nowMs: number): void {
    const before = this.#health;
    if (settlement !== null) this.#outcomes.add(settlement);
    if (health !== before) {
      this.#health = health;
      this.#outcomes.setHealth(health);
      this.host.onHealth(this.destination, before, health);
    }
    if (before.retryAtMs > 0 && health.retryAtMs === 0) {
      // Whatever was put off while it was not well is due now.
      this.#due.hasten();
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

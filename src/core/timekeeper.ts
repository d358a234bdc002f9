/**
 * The clock of a server by the rule of core/leap.ts: the only guard of what deletes or ends by the
 * clock. docs/time.md has the table. A read costs two reads of clocks of the process.
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import {
  begun,
  isSpent,
  isSuspended,
  LEAP_MS,
  type LeapChange,
  type Moved,
  over,
  stepped,
  type TimeState,
} from './leap.ts';
import type { FutureCursor, Leap, TimeStore } from './port/time.ts';
import { nextTurn } from './turn.ts';

/** Pause between two times that are stored: usually, and while the operator may confirm a leap. */
const SAVE_MS = 60_000;
const SAVE_IN_LEAP_MS = 5_000;

/** Receives a change of a leap, and the time by which the clock is ahead, ms. */
type OnLeap = (change: NonNullable<LeapChange>, leadMs: number) => void;

export interface LeapFacts {
  /** Time by which the machine's clock is ahead of the steady time, ms; below 0: behind it. */
  leadMs: number;
  isSuspended: boolean;
  isSpent: boolean;
}

/** The clocks of the machine, as src/base/clock.ts has them. */
interface Machine {
  nowMs(): number;
  steadyMs(): number;
  bootMs(): number;
}

export class Timekeeper {
  #state: TimeState;
  /** The clocks of the process when the state was right. */
  #steadyMs: number;
  #bootMs: number;
  /** The leap that the store has. */
  #stored: Leap | null = null;
  #savedMs = Number.NEGATIVE_INFINITY;
  #mustCut = false;

  /** `name` is that of the machine in the store; `onLeap` receives what becomes of leaps. */
  constructor(
    private readonly machine: Machine,
    private readonly name: string,
    private readonly onLeap: OnLeap,
  ) {
    this.#state = begun(null, machine.nowMs()).state;
    this.#steadyMs = machine.steadyMs();
    this.#bootMs = machine.bootMs();
  }

  /** Compares the clock with the last time stored. A new node takes that of another one. */
  async begin(store: TimeStore): Promise<void> {
    const times = await store.listTimes();
    const own = times.find(({ name }) => name === this.name);
    const kept = own ?? (times[0] ? { ...times[0], leap: null } : null);
    this.#stored = own?.leap ?? null;
    this.#take(begun(kept, this.machine.nowMs()));
  }

  /**
   * Returns the time of the server, UTC ms: the machine's, but while that is behind by a leap the
   * steady one. So what ends a right ends by the clock that comes first.
   */
  nowMs = (): number => {
    const { wallMs, atMs, isLeap } = this.#look();
    return isLeap ? Math.max(wallMs, atMs) : wallMs;
  };

  /** Returns `atMs`, or during a leap the earliest of it and of both clocks. */
  leastMs = (atMs: number): number => {
    const now = this.#look();
    return now.isLeap ? Math.min(atMs, now.wallMs, now.atMs) : atMs;
  };

  /** The time by which records are old enough to be deleted; 0 while that is suspended. */
  ageMs = (): number => {
    const { isLeap, wallMs, atMs } = this.#look();
    if (!isLeap) return wallMs;
    const isNew = this.#state.leap === null;
    const isHeld = isNew ? !isSpent(this.#state) : isSuspended(this.#state);
    return isHeld ? 0 : Math.min(wallMs, atMs);
  };

  /** Returns the facts of a leap; null: there is none. */
  leap(): LeapFacts | null {
    const { isLeap, wallMs, atMs } = this.#look();
    if (!isLeap) return null;
    const is = { isSuspended: this.ageMs() === 0, isSpent: isSpent(this.#state) };
    return { leadMs: wallMs - atMs, ...is };
  }

  /** Follows the clocks, and stores the steady time now and then; to be called once a second. */
  async keep(store: TimeStore): Promise<void> {
    const bootMs = this.machine.bootMs();
    const elapsedMs = Math.max(0, bootMs - this.#bootMs);
    this.#take(stepped(this.#state, this.machine.nowMs(), elapsedMs));
    this.#bootMs = bootMs;
    this.#steadyMs = this.machine.steadyMs();
    // The store forgets the leap last: after a kill the records are cut again.
    if (this.#mustCut) await cutFuture(store, this.machine.nowMs());
    this.#mustCut = false;
    const pauseMs = this.#state.leap === null ? SAVE_MS : SAVE_IN_LEAP_MS;
    const isChanged = (this.#state.leap === null) !== (this.#stored === null);
    if (!isChanged && bootMs - this.#savedMs < pauseMs) return;
    await this.#save(store, bootMs);
  }

  async #save(store: TimeStore, bootMs: number): Promise<void> {
    const state = this.#state;
    const [atMs, ranMs] = [Math.round(state.atMs), Math.round(state.ranMs)];
    if (await store.saveTime({ ...state, atMs, ranMs, name: this.name }, this.#stored)) {
      this.#stored = state.leap;
      this.#savedMs = bootMs;
      return;
    }
    this.#stored = (await store.listTimes()).find(({ name }) => name === this.name)?.leap ?? null;
    // The operator has confirmed the clock.
    const isTrusted = this.#stored === null && this.#state.leap !== null;
    if (isTrusted) this.#take(over(this.#state, this.machine.nowMs(), 'trusted'));
  }

  #look() {
    const wallMs = this.machine.nowMs();
    // Times are whole milliseconds; the steady clocks are finer.
    const atMs = Math.round(this.#state.atMs + this.machine.steadyMs() - this.#steadyMs);
    const isLeap = this.#state.leap !== null || Math.abs(wallMs - atMs) > LEAP_MS;
    return { wallMs, atMs, isLeap };
  }

  #take({ state, change }: Moved): void {
    const leadMs = this.machine.nowMs() - state.atMs;
    this.#state = state;
    if (change === null) return;
    if (change !== 'leapt') this.#mustCut = true;
    this.onLeap(change, leadMs);
  }
}

/** Takes the clocks of all machines that leapt for right. Returns their number. */
export const trustClocks = (core: Core, nowMs: number): Promise<number> =>
  core.store.trustClocks(actAt(core, nowMs));

async function cutFuture(store: TimeStore, nowMs: number): Promise<void> {
  let at: FutureCursor | null = null;
  do {
    at = await store.cutFuture(nowMs, at);
    await nextTurn();
  } while (at !== null);
}

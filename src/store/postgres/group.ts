/**
 * Calls of one turn of the event loop that go to the database together. No more than some runs are
 * under way at a time; what comes meanwhile waits for the next one, so that groups grow with load.
 * A run takes its calls in turns by party, and no party has calls in all runs: another one's call
 * never waits behind all that one of them has.
 */

import { systemClock } from '../../clock.ts';
import { StoreBusy, WriteFailed } from '../../core/port/store.ts';
import { type Countdown, Deadlines } from '../../deadline.ts';
import { PartyQueue } from '../../queue.ts';
import { isStorageFault } from './fault.ts';
import { asGroup, currentParty } from './party.ts';

/** Calls that wait for one kind of group, of all parties. */
const WAITING_MAX = 8_000;
/** Runs at a time: with one less, a party alone keeps the database as busy as it should be. */
const UNDER_WAY_MAX = 3;

/** The problem of a call whose time is over. */
export const TOO_LONG = 'it takes too long';
/** The problem of a call that is refused as too many wait. */
export const TOO_MANY = 'too many calls wait for the database';

export interface GroupOptions<Item, Answer> {
  /** Answers each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** The most items of one run. */
  itemsMax: number;
  /** The most runs at a time. */
  underWayMax?: number;
  /** True if a run writes: what is given up then is a write that failed. */
  isWrite?: boolean;
  /** True if a run has calls of one party, which has one run: its calls wait for one lock. */
  isOfOneParty?: boolean;
}

/** The parts of the database that groups need. */
interface GroupHome {
  /** The most time from a question to its answer, with all that it waits for, ms. */
  callMs: number;
  /** Calls `end` when the database is closed. */
  onClose(end: () => void): void;
}

interface Call<Item, Answer> {
  item: Item;
  countdown: Countdown;
  resolve: (answer: Answer) => void;
  reject: (fault: unknown) => void;
}

export class TurnGroup<Item, Answer> {
  readonly #waiting = new PartyQueue<Call<Item, Answer>>(() => ({ waitingMax: WAITING_MAX }));
  #underWayCount = 0;
  /** Runs under way with calls of each party. */
  readonly #runsOf = new Map<string, number>();
  #isScheduled = false;
  readonly #calls: Deadlines;
  readonly #options: GroupOptions<Item, Answer>;
  readonly #underWayMax: number;

  constructor(home: GroupHome, options: GroupOptions<Item, Answer>) {
    const { steadyMs } = systemClock;
    this.#calls = new Deadlines(home.callMs, steadyMs, () => this.#givenUp(TOO_LONG));
    home.onClose(() => this.#calls.close());
    this.#options = options;
    this.#underWayMax = options.underWayMax ?? UNDER_WAY_MAX;
  }

  /**
   * Rejects with what its run threw. If too many wait, or it for too long: with {@link StoreBusy},
   * of a write with {@link WriteFailed}.
   */
  ask(item: Item): Promise<Answer> {
    const party = currentParty() ?? '';
    return this.#calls.within(
      (countdown) =>
        new Promise((resolve, reject) => {
          const call = { item, countdown, resolve, reject };
          this.#waiting.add(party, call)?.reject(this.#givenUp(TOO_MANY));
          this.#schedule();
        }),
    );
  }

  #givenUp(problem: string): StoreBusy | WriteFailed {
    const cause = new StoreBusy(problem);
    return this.#options.isWrite ? new WriteFailed(problem, { cause }) : cause;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWayCount >= this.#underWayMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      asGroup(() => this.#begin());
    });
  }

  #begin(): void {
    while (this.#underWayCount < this.#underWayMax) {
      const parties = new Set<string>();
      const calls = this.#take(parties);
      if (calls.length === 0) return;
      this.#underWayCount += 1;
      this.#count(parties, 1);
      void this.#serve(calls).finally(() => {
        this.#underWayCount -= 1;
        this.#count(parties, -1);
        if (this.#waiting.size > 0) this.#schedule();
      });
    }
  }

  /** Takes the calls of a run, and adds their parties. */
  #take(parties: Set<string>): Call<Item, Answer>[] {
    const { isOfOneParty = false } = this.#options;
    const partyRunsMax = isOfOneParty ? 1 : Math.max(1, this.#underWayMax - 1);
    const partiesMax = isOfOneParty ? 1 : Number.POSITIVE_INFINITY;
    const mayGo = (party: string) =>
      parties.has(party) ||
      (parties.size < partiesMax && (this.#runsOf.get(party) ?? 0) < partyRunsMax);
    const calls: Call<Item, Answer>[] = [];
    while (calls.length < this.#options.itemsMax) {
      const next = this.#waiting.take(mayGo);
      if (next === null) break;
      // A call that was answered that it failed is not to be done later.
      if (next.item.countdown.leftMs() <= 0) continue;
      parties.add(next.party);
      calls.push(next.item);
    }
    return calls;
  }

  #count(parties: ReadonlySet<string>, by: number): void {
    for (const party of parties) {
      const runs = (this.#runsOf.get(party) ?? 0) + by;
      if (runs === 0) this.#runsOf.delete(party);
      else this.#runsOf.set(party, runs);
    }
  }

  /** Never rejects. A fault of one item, such as a broken constraint, takes no other with it. */
  async #serve(calls: readonly Call<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.run(calls.map(({ item }) => item));
      if (answers.length !== calls.length) {
        throw new Error(`a group of ${calls.length} has ${answers.length} answers`);
      }
      calls.forEach(({ resolve }, n) => {
        resolve(answers[n] as Answer);
      });
    } catch (fault) {
      if (calls.length === 1 || isStorageFault(fault)) {
        for (const { reject } of calls) reject(fault);
      } else {
        for (const call of calls) await this.#serve([call]);
      }
    }
  }
}

/**
 * Groups: calls of one turn of the event loop that share a statement. Few runs are in flight, so
 * groups grow with load. A run takes calls by party in turn, and no party has all runs.
 */

import { systemClock } from '../../base/clock.ts';
import { type Countdown, Deadlines } from '../../base/deadline.ts';
import { PartyQueue } from '../../base/queue.ts';
import { StoreBusy, WriteFailed } from '../../core/port/store.ts';
import { isStorageFault } from './fault.ts';
import { asGroup, currentParty } from './party.ts';

/** Most calls of all parties that wait for one group. */
const WAITING_MAX = 8_000;
/**
 * Most runs in flight; one party alone has at most one less, which still keeps the database busy.
 */
const UNDER_WAY_MAX = 3;

/** The problem of a call whose deadline has passed. */
export const TOO_LONG = 'it takes too long';
/** The problem of a call that is refused because too many wait. */
export const TOO_MANY = 'too many calls wait for the database';

interface GroupOptions<Item, Answer> {
  /** Answers the items in their order. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Most items of one run. */
  itemsMax: number;
  /** Amount of work of an item, if it may be more than 1, and the most of one run. */
  sizes?: { of(item: Item): number; max: number };
  /** Most runs in flight. */
  inFlightMax?: number;
  /** True if a run writes: then a call that waits too long is a failed write. */
  isWrite?: boolean;
  /**
   * True if a run has calls of one party only, one run at a time: all its calls need the same lock.
   */
  isOfOneParty?: boolean;
}

/** The parts of the database that groups use. */
interface GroupHome {
  /** Longest time of a call including its waits, ms. */
  callMs: number;
  /** Registers `end`, which is called when the database is closed. */
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
  #inFlightCount = 0;
  /** Runs in flight with calls of each party. */
  readonly #runsOf = new Map<string, number>();
  #isScheduled = false;
  readonly #calls: Deadlines;
  readonly #inFlightMax: number;

  constructor(
    home: GroupHome,
    private readonly options: GroupOptions<Item, Answer>,
  ) {
    const { steadyMs } = systemClock;
    this.#calls = new Deadlines(home.callMs, steadyMs, () => this.#busy(TOO_LONG));
    home.onClose(() => this.#calls.close());
    this.#inFlightMax = options.inFlightMax ?? UNDER_WAY_MAX;
  }

  /**
   * Adds an item to a run and returns its answer. Rejects with the error of the run; with
   * {@link StoreBusy}, and for a write with {@link WriteFailed}, if too many wait or the deadline
   * passes.
   */
  ask(item: Item): Promise<Answer> {
    const party = currentParty() ?? '';
    return this.#calls.within(
      (countdown) =>
        new Promise((resolve, reject) => {
          const call = { item, countdown, resolve, reject };
          this.#waiting.add(party, call)?.reject(this.#busy(TOO_MANY));
          this.#schedule();
        }),
    );
  }

  #busy(problem: string): StoreBusy | WriteFailed {
    const cause = new StoreBusy(problem);
    return this.options.isWrite ? new WriteFailed(problem, { cause }) : cause;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlightCount >= this.#inFlightMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      asGroup(() => this.#begin());
    });
  }

  #begin(): void {
    while (this.#inFlightCount < this.#inFlightMax) {
      const parties = new Set<string>();
      const calls = this.#take(parties);
      if (calls.length === 0) return;
      this.#inFlightCount += 1;
      this.#count(parties, 1);
      void this.#serve(calls).finally(() => {
        this.#inFlightCount -= 1;
        this.#count(parties, -1);
        if (this.#waiting.size > 0) this.#schedule();
      });
    }
  }

  /** Takes the calls of a run and adds their parties. */
  #take(parties: Set<string>): Call<Item, Answer>[] {
    const { isOfOneParty = false, itemsMax, sizes } = this.options;
    const partyRunsMax = isOfOneParty ? 1 : Math.max(1, this.#inFlightMax - 1);
    const partiesMax = isOfOneParty ? 1 : Number.POSITIVE_INFINITY;
    const mayGo = (party: string) =>
      parties.has(party) ||
      (parties.size < partiesMax && (this.#runsOf.get(party) ?? 0) < partyRunsMax);
    const calls: Call<Item, Answer>[] = [];
    let size = 0;
    while (calls.length < itemsMax && size < (sizes?.max ?? itemsMax)) {
      const next = this.#waiting.take(mayGo);
      if (next === null) break;
      // A call whose deadline passed has already failed.
      if (next.item.countdown.leftMs() <= 0) continue;
      parties.add(next.party);
      size += sizes?.of(next.item.item) ?? 1;
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

  /** Never rejects. An error of one item, such as a broken constraint, fails no other item. */
  async #serve(calls: readonly Call<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.options.run(calls.map(({ item }) => item));
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

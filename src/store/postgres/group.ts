/**
 * Calls of one turn of the event loop that go to the database together. No more than some runs are
 * under way at a time; what comes meanwhile waits for the next one, so that groups grow with load.
 */

import { systemClock } from '../../clock.ts';
import { StoreAway, WriteFailed } from '../../core/port/store.ts';
import { isStorageFault } from './fault.ts';
import { TOO_LONG, TOO_MANY } from './places.ts';

/** Calls that wait for one kind of group; one more is refused at once. */
const WAITING_MAX = 4_000;

export interface GroupOptions<Item, Answer> {
  /** Answers each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** The most items of one run. */
  itemsMax: number;
  /** The most runs at a time. */
  underWayMax: number;
  /** True if a run writes: what is given up then is a write that failed. */
  isWrite?: boolean;
}

interface Call<Item, Answer> {
  item: Item;
  /** Time by which it is answered, whatever becomes of it. */
  endsMs: number;
  resolve: (answer: Answer) => void;
  reject: (fault: unknown) => void;
}

export class TurnGroup<Item, Answer> {
  #waiting: Call<Item, Answer>[] = [];
  readonly #underWay = new Set<readonly Call<Item, Answer>[]>();
  #isScheduled = false;
  #timer: Timer | null = null;
  readonly #callMs: number;
  readonly #options: GroupOptions<Item, Answer>;

  /** `callMs`: the most time from a question to its answer, with all that it waits for. */
  constructor({ callMs }: { callMs: number }, options: GroupOptions<Item, Answer>) {
    this.#callMs = callMs;
    this.#options = options;
  }

  /**
   * Rejects with what its run threw. If too many wait, or it for too long: with {@link StoreAway},
   * of a write with {@link WriteFailed}.
   */
  ask(item: Item): Promise<Answer> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(this.#givenUp(TOO_MANY));
    return new Promise((resolve, reject) => {
      const endsMs = systemClock.steadyMs() + this.#callMs;
      this.#waiting.push({ item, endsMs, resolve, reject });
      this.#timer ??= setTimeout(this.#look, this.#callMs);
      this.#schedule();
    });
  }

  #givenUp(problem: string): StoreAway | WriteFailed {
    const cause = new StoreAway(problem);
    return this.#options.isWrite ? new WriteFailed(problem, { cause }) : cause;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWay.size >= this.#options.underWayMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    const { itemsMax, underWayMax } = this.#options;
    while (this.#waiting.length > 0 && this.#underWay.size < underWayMax) {
      const calls = this.#waiting.splice(0, itemsMax);
      this.#underWay.add(calls);
      void this.#serve(calls).finally(() => {
        this.#underWay.delete(calls);
        if (this.#waiting.length > 0) this.#schedule();
      });
    }
  }

  /** Answers those whose time is over; of those that are under way nobody knows the outcome. */
  #look = (): void => {
    this.#timer = null;
    const nowMs = systemClock.steadyMs();
    const isLate = ({ endsMs }: Call<Item, Answer>) => endsMs <= nowMs;
    const open = [...this.#underWay, this.#waiting].flat();
    for (const { reject } of open.filter(isLate)) reject(this.#givenUp(TOO_LONG));
    this.#waiting = this.#waiting.filter((call) => !isLate(call));
    const next = open.find((call) => !isLate(call));
    if (next !== undefined) this.#timer = setTimeout(this.#look, next.endsMs - nowMs + 1);
  };

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

/**
 * Calls of one turn of the event loop that go to the database together. No more than some runs are
 * under way at a time; what comes meanwhile waits for the next one, so that groups grow with load.
 */

import { StoreAway } from '../../core/port/store.ts';
import { isStorageFault } from './fault.ts';
import { TOO_MANY } from './places.ts';

/** Calls that wait for one kind of group; one more is refused at once. */
const WAITING_MAX = 4_000;

export interface GroupOptions<Item, Answer> {
  /** Answers each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** The most items of one run. */
  itemsMax: number;
  /** The most runs at a time. */
  underWayMax: number;
}

interface Waiting<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (fault: unknown) => void;
}

export class TurnGroup<Item, Answer> {
  #waiting: Waiting<Item, Answer>[] = [];
  #underWay = 0;
  #isScheduled = false;
  readonly #options: GroupOptions<Item, Answer>;

  constructor(options: GroupOptions<Item, Answer>) {
    this.#options = options;
  }

  /** Rejects with what its run threw, or {@link StoreAway} if too many wait already. */
  ask(item: Item): Promise<Answer> {
    if (this.#waiting.length >= WAITING_MAX) {
      return Promise.reject(new StoreAway(TOO_MANY));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#options.underWayMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    const { itemsMax, underWayMax } = this.#options;
    while (this.#waiting.length > 0 && this.#underWay < underWayMax) {
      this.#underWay += 1;
      void this.#serve(this.#waiting.splice(0, itemsMax)).finally(() => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#schedule();
      });
    }
  }

  /** Never rejects. A fault of one item, such as a broken constraint, takes no other with it. */
  async #serve(calls: readonly Waiting<Item, Answer>[]): Promise<void> {
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

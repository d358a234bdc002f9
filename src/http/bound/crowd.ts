/**
 * The beginning of calls. While few come in a turn of the event loop, each begins at once, and that
 * costs a count. When more come, they wait in turns by the address of their client: the connections
 * of one client, however many, hold up another's call by one turn, not by all of them.
 */

import type { Maybe } from '../../core/port/maybe.ts';
import { PartyQueue } from '../../queue.ts';

/** Calls that begin at once until a turn of the event loop is over: twice as many at most. */
const AT_ONCE_MAX = 128;
/** Calls that begin in a turn while others wait: a commit of as many takes a few milliseconds. */
const PER_TURN = 32;
/**
 * Calls that may wait. A connection has one, as Bun reads the next of its requests when the one
 * before is answered; so this is more than there can be. One beyond would begin at once.
 */
const WAITING_MAX = 1_000_000;

type Answer = Maybe<Response | null>;

interface Call {
  request: Request;
  answer(request: Request): Answer;
  resolve(answer: Answer): void;
  reject(fault: unknown): void;
}

interface CrowdOptions {
  /** Returns the address that the client of a request is counted under. */
  clientOf(request: Request): string;
  /** Tells whether the client of a request has left. */
  isGone(request: Request): boolean;
}

export class Crowd {
  /** Calls that began since the turn was known to be over. */
  #begunCount = 0;
  readonly #waiting = new PartyQueue<Call>(() => WAITING);
  readonly #options: CrowdOptions;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /** Answers a request, at once or when it is its client's turn. */
  begin(request: Request, answer: (request: Request) => Answer): Answer {
    if (this.#begunCount < 2 * AT_ONCE_MAX) {
      this.#begunCount += 1;
      if (this.#begunCount === AT_ONCE_MAX) setImmediate(this.#serve);
      return answer(request);
    }
    return new Promise((resolve, reject) => {
      const call = { request, answer, resolve, reject };
      const surplus = this.#waiting.add(this.#options.clientOf(request), call);
      if (surplus !== null) serve(surplus);
    });
  }

  /** The turn is over: those that wait begin, some in each turn. */
  #serve = (): void => {
    for (let count = 0; count < PER_TURN; ) {
      const next = this.#waiting.take();
      if (next === null) {
        this.#begunCount = 0;
        return;
      }
      const { item } = next;
      if (this.#options.isGone(item.request)) {
        item.resolve(new Response());
      } else {
        count += 1;
        serve(item);
      }
    }
    setImmediate(this.#serve);
  };
}

const WAITING = { waitingMax: WAITING_MAX, waitingPerPartyMax: WAITING_MAX };

function serve({ request, answer, resolve, reject }: Call): void {
  try {
    resolve(answer(request));
  } catch (fault) {
    reject(fault);
  }
}

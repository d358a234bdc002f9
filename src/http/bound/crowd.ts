/**
 * The start of calls. While few arrive in a turn of the event loop, each starts at once, which
 * costs a count. When more arrive, they queue and take turns by client address: a client delays the
 * calls of another by one call, however many connections it has.
 */

import { PartyQueue } from '../../base/queue.ts';
import type { Maybe } from '../../core/port/maybe.ts';

/** Calls that start at once until a turn of the event loop ends: at most twice as many. */
const AT_ONCE_MAX = 128;
/** Calls that start in a turn while others wait: a commit of as many takes a few milliseconds. */
const PER_TURN = 32;
/**
 * The most waiting calls: more than can occur, because Bun reads the next request of a connection
 * only after an answer. A call beyond this bound starts at once.
 */
const WAITING_MAX = 1_000_000;
const WAITING = { waitingMax: WAITING_MAX, waitingPerPartyMax: WAITING_MAX };

type MaybeResponse = Maybe<Response | null>;

interface Call {
  request: Request;
  answer(request: Request): MaybeResponse;
  resolve(answer: MaybeResponse): void;
  reject(fault: unknown): void;
}

interface CrowdOptions {
  /** Returns the address under which the client of a request is counted. */
  clientOf(request: Request): string;
  /** Returns whether the client of a request has disconnected. */
  isGone(request: Request): boolean;
}

export class Crowd {
  /** Calls that started since the last known end of a turn. */
  #begunCount = 0;
  readonly #waiting = new PartyQueue<Call>(() => WAITING);

  constructor(private readonly options: CrowdOptions) {}

  /** Answers a request, at once or when the turn of its client comes. */
  begin(request: Request, answer: (request: Request) => MaybeResponse): MaybeResponse {
    if (this.#begunCount < 2 * AT_ONCE_MAX) {
      this.#begunCount += 1;
      if (this.#begunCount === AT_ONCE_MAX) setImmediate(this.#serve);
      return answer(request);
    }
    return new Promise((resolve, reject) => {
      const call = { request, answer, resolve, reject };
      const surplus = this.#waiting.add(this.options.clientOf(request), call);
      if (surplus !== null) serve(surplus);
    });
  }

  /** Starts waiting calls, a bounded number in each turn. */
  #serve = (): void => {
    for (let count = 0; count < PER_TURN; ) {
      const next = this.#waiting.take();
      if (next === null) {
        this.#begunCount = 0;
        return;
      }
      const { item } = next;
      if (this.options.isGone(item.request)) {
        item.resolve(new Response());
      } else {
        count += 1;
        serve(item);
      }
    }
    setImmediate(this.#serve);
  };
}

function serve({ request, answer, resolve, reject }: Call): void {
  try {
    resolve(answer(request));
  } catch (fault) {
    reject(fault);
  }
}

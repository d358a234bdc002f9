/** The access token of a gateway: one for all calls, until it expires or is rejected. */

import { unlessAborted } from '../base/deadline.ts';
import { messageOf } from '../base/operator-error.ts';
import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import type { UsedToken } from './answer.ts';

export interface NewToken {
  value: string;
  /** The time for which it is used, ms. */
  lifeMs: number;
}

interface HeldToken {
  value: string;
  /** UTC ms. A clock that is set back to before `fromMs` makes another token. */
  fromMs: number;
  untilMs: number;
}

/** Tokens in a row that are rejected before the credentials count as wrong. */
const REJECTED_MAX = 2;

const ABORTED: AttemptVerdict = {
  verdict: 'retry',
  afterMs: null,
  problem: 'the attempt was aborted',
};

export class TokenKeeper {
  #held: HeldToken | null = null;
  /** The request for a token that is in progress, which all calls share. */
  #request: Promise<string | AttemptVerdict> | null = null;
  #rejectedInARow = 0;

  constructor(
    private readonly make: (nowMs: number) => Promise<NewToken | AttemptVerdict>,
    private readonly nowMs: () => number,
  ) {}

  /** Returns the token, or the verdict on a push that cannot be sent without one. Never throws. */
  async get(signal: AbortSignal): Promise<string | AttemptVerdict> {
    const nowMs = this.nowMs();
    const held = this.#held;
    if (held !== null && nowMs >= held.fromMs && nowMs < held.untilMs) return held.value;
    this.#request ??= this.#make(nowMs).finally(() => {
      this.#request = null;
    });
    return (await unlessAborted(signal, this.#request)) ?? ABORTED;
  }

  /** Returns the token in the form for a call. */
  used(value: string): UsedToken {
    return {
      onAccepted: () => {
        if (this.#held?.value === value) this.#rejectedInARow = 0;
      },
      onRejected: (problem) => this.#reject(value, problem),
    };
  }

  /** Drops a rejected token: the next one may be accepted, or the credentials are wrong. */
  #reject(value: string, problem: string): AttemptVerdict {
    // An answer to an earlier token does not concern the current one.
    if (this.#held?.value === value) {
      this.#held = null;
      this.#rejectedInARow += 1;
    }
    return this.#rejectedInARow >= REJECTED_MAX
      ? { verdict: 'credentials', problem }
      : { verdict: 'retry', afterMs: 0, problem };
  }

  async #make(nowMs: number): Promise<string | AttemptVerdict> {
    try {
      const made = await this.make(nowMs);
      if ('verdict' in made) return made;
      this.#held = { value: made.value, fromMs: nowMs, untilMs: nowMs + made.lifeMs };
      return made.value;
    } catch (error) {
      return { verdict: 'credentials', problem: `no token could be signed: ${messageOf(error)}` };
    }
  }
}

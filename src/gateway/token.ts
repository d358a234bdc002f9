/** The token by which a gateway knows us: one for all calls, until it ages or is refused. */

import type { Verdict } from '../core/outbox/carrier.ts';
import { messageOf } from '../operator-error.ts';
import type { ShownToken } from './answer.ts';

export interface NewToken {
  value: string;
  /** Time for which it is used, ms. */
  lifeMs: number;
}

interface HeldToken {
  value: string;
  /** Time until which it is used, UTC ms; a clock set back by more than its life makes another. */
  fromMs: number;
  untilMs: number;
}

/** Tokens that may be refused one after the other before it is our credentials that are wrong. */
const REFUSED_MAX = 2;

/** Keeps a token, makes another when need be: one at a time, however many wait for it. */
export class TokenKeeper {
  #held: HeldToken | null = null;
  #making: Promise<string | Verdict> | null = null;
  #refusedInARow = 0;

  constructor(
    private readonly make: (nowMs: number) => Promise<NewToken | Verdict>,
    private readonly nowMs: () => number,
  ) {}

  /** The token, or the verdict of a push that cannot go out without one. Never throws. */
  async get(signal: AbortSignal): Promise<string | Verdict> {
    const nowMs = this.nowMs();
    const held = this.#held;
    if (held !== null && nowMs >= held.fromMs && nowMs < held.untilMs) return held.value;
    this.#making ??= this.#makeOne(nowMs).finally(() => {
      this.#making = null;
    });
    return orStopped(this.#making, signal);
  }

  /** A token that a call shows. */
  shown(value: string): ShownToken {
    return {
      worked: () => {
        if (this.#held?.value === value) this.#refusedInARow = 0;
      },
      refused: (problem) => this.#verdictOfRefusal(value, problem),
    };
  }

  /**
   * Drops a token that was refused. The next one may be taken; if the last ones were refused too,
   * each as soon as it was made, it is our credentials that are wrong.
   */
  #verdictOfRefusal(value: string, problem: string): Verdict {
    // An answer to a token that was dropped meanwhile says nothing of the present one.
    if (this.#held?.value === value) {
      this.#held = null;
      this.#refusedInARow += 1;
    }
    return this.#refusedInARow >= REFUSED_MAX
      ? { verdict: 'credentials', problem }
      : { verdict: 'retry', afterMs: 0, problem };
  }

  async #makeOne(nowMs: number): Promise<string | Verdict> {
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

/** Waits, but not for longer than the signal lets it. */
async function orStopped(
  token: Promise<string | Verdict>,
  signal: AbortSignal,
): Promise<string | Verdict> {
  const stopped: Verdict = { verdict: 'retry', afterMs: null, problem: 'the sending was stopped' };
  if (signal.aborted) return stopped;
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const stop = () => resolve(stopped);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([token, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

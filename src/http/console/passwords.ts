/** Hashes passwords by argon2id: 80 ms of a processor and 64 MiB, so two at a time, in turns. */

import type { Passwords } from '../../core/account/sign-in.ts';
import { Places } from '../../queue.ts';

const TOGETHER_MAX = 2;
const WAITING_MAX = 100;
/** A call that waits longer is refused, ms. */
const WAIT_MAX_MS = 10_000;

const hashOf = (password: string) => Bun.password.hash(password, 'argon2id');

/** `stopping` refuses those that wait. */
export function makePasswords(stopping: AbortSignal): Passwords {
  const places = new Places(() => ({ placesMax: TOGETHER_MAX, waitingMax: WAITING_MAX }));
  let none: string | null = null;

  async function inTurn<T>(party: string, work: () => Promise<T>): Promise<T | null> {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(WAIT_MAX_MS)]);
    const leave = await places.take(party, signal);
    if (typeof leave === 'string') return null;
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return {
    hash: (party, password) => inTurn(party, () => hashOf(password)),
    verify: (party, password, hash) =>
      inTurn(party, async () => {
        // An unknown name takes the time of a known one.
        if (hash === null) none ??= await hashOf(crypto.randomUUID());
        const isRight = await Bun.password.verify(password, hash ?? none ?? '');
        return isRight && hash !== null;
      }),
  };
}

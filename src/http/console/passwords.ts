/**
 * Hashes passwords with argon2id. A hash takes 80 ms of a processor and 64 MiB, so two run at a
 * time and callers take turns.
 */

import type { Passwords } from '../../core/account/sign-in.ts';
import { Places } from '../../queue.ts';

const TOGETHER_MAX = 2;
const WAITING_MAX = 100;
/** The longest wait in the queue, ms; then the call is refused. */
const WAIT_MAX_MS = 10_000;

const hashOf = (password: string) => Bun.password.hash(password, 'argon2id');

/** Makes the hasher. `stopping` refuses waiting calls. */
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
        // An unknown name must take as long as a known one.
        if (hash === null) none ??= await hashOf(crypto.randomUUID());
        const isRight = await Bun.password.verify(password, hash ?? none ?? '');
        return isRight && hash !== null;
      }),
  };
}

/**
 * Hashes passwords with argon2id. A hash takes 80 ms of a processor and 64 MiB, so two run at a
 * time for strangers, who take turns, and one for callers that have shown to belong to an account.
 */

import { type Leave, PartyQueue, Places } from '../../base/queue.ts';
import type { Hashing, Passwords } from '../../core/account/sign-in.ts';
import { networkOf } from '../request/address.ts';

const STRANGERS_MAX = 2;
const KNOWN_MAX = 1;
/** The most callers that wait, strangers and others. */
const WAITING_MAX = 1_000;
/** The longest wait in the queue, ms; then the call is refused. */
const WAIT_MAX_MS = 10_000;

/**
 * The line of strangers: networks take turns, in each its addresses, and in these the accounts. A
 * new caller in a full line pushes out the newest of the network with most.
 */
class StrangersLine {
  readonly #all = new PartyQueue<AbortController>(() => ({ waitingMax: WAITING_MAX }));
  /** The places of all, of a network, and of an address, by name, with the callers in them. */
  readonly #levels = new Map<string, { places: Places; count: number }>();

  /** Returns null if the line has no room, or `signal` ends the wait. */
  async take({ client, account }: Hashing, signal: AbortSignal): Promise<Leave | null> {
    const network = networkOf(client);
    const end = new AbortController();
    const surplus = this.#all.add(network, end);
    surplus?.abort();
    const whenOver = AbortSignal.any([signal, end.signal]);
    const leaves: Leave[] = [];
    const leave = () => {
      for (const one of leaves.splice(0).reverse()) one();
    };
    const parties: [level: string, party: string][] = [
      [`${network} ${client}`, account],
      [network, client],
      ['', network],
    ];
    try {
      for (const [level, party] of parties) {
        const taken = await this.#takeAt(level, party, whenOver);
        if (taken === null) {
          leave();
          return null;
        }
        leaves.push(taken);
      }
      return leave;
    } finally {
      this.#all.remove(network, end);
    }
  }

  async #takeAt(name: string, party: string, signal: AbortSignal): Promise<Leave | null> {
    const level = this.#levels.get(name) ?? {
      places: new Places(() => ({ placesMax: STRANGERS_MAX, waitingMax: WAITING_MAX })),
      count: 0,
    };
    this.#levels.set(name, level);
    level.count += 1;
    const forget = () => {
      level.count -= 1;
      if (level.count === 0) this.#levels.delete(name);
    };
    const taken = await level.places.take(party, signal);
    if (typeof taken === 'string') {
      forget();
      return null;
    }
    return () => {
      taken();
      forget();
    };
  }
}

/** Hashes passwords, and compares them with hashes. */
export interface Hasher {
  hash(password: string): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
}

const ARGON2ID: Hasher = {
  hash: (password) => Bun.password.hash(password, 'argon2id'),
  verify: (password, hash) => Bun.password.verify(password, hash),
};

/** Makes the queue. `stopping` refuses waiting calls; a test has another hasher. */
export function makePasswords(stopping: AbortSignal, by: Hasher = ARGON2ID): Passwords {
  const strangers = new StrangersLine();
  const known = new Places(() => ({ placesMax: KNOWN_MAX, waitingMax: WAITING_MAX }));
  let none: string | null = null;

  async function inTurn<T>(of: Hashing, work: () => Promise<T>): Promise<T | null> {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(WAIT_MAX_MS)]);
    const leave = await (of.isKnown ? known.take(of.account, signal) : strangers.take(of, signal));
    if (typeof leave !== 'function') return null;
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return {
    hash: (of, password) => inTurn(of, () => by.hash(password)),
    verify: (of, password, hash) =>
      inTurn(of, async () => {
        // An unknown name must take as long as a known one.
        if (hash === null) none ??= await by.hash(crypto.randomUUID());
        const isRight = await by.verify(password, hash ?? none ?? '');
        return isRight && hash !== null;
      }),
  };
}

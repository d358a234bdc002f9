/** The party of a call: parties take turns where calls wait for the database. */

import { AsyncLocalStorage } from 'node:async_hooks';

/** The party of the node's jobs. */
const JOBS = 'jobs';

interface Party {
  nameOf: () => string;
  /** Null until it is first needed. */
  name: string | null;
}

/** Null: a group, which takes its calls by party in turn. */
const current = new AsyncLocalStorage<Party | null>();

/** Runs `work` and its continuations on behalf of a party. */
export function onBehalfOf<Of, T>(of: Of, nameOf: (of: Of) => string, work: (of: Of) => T): T {
  return current.run({ nameOf: () => nameOf(of), name: null }, work, of);
}

/** Gives the rest of the present call to another party. */
export function continueAs(party: string): void {
  const present = current.getStore();
  if (present) present.name = party;
}

/** Runs `work` for a group of calls, which has its own queue. */
export function asGroup<T>(work: () => T): T {
  return current.run(null, work);
}

/** Returns the party of the present call; null: it belongs to a group. */
export function currentParty(): string | null {
  const party = current.getStore();
  if (party === undefined || party === null) return party === null ? null : JOBS;
  party.name ??= party.nameOf();
  return party.name;
}

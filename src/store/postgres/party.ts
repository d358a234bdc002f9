/** The parties on whose behalf calls come: they take turns where calls wait for the database. */

import { AsyncLocalStorage } from 'node:async_hooks';

/** The party of the node's own work. */
const JOBS = 'jobs';

interface Party {
  nameOf: () => string;
  /** Known from the first time that it was asked for. */
  name: string | null;
}

/** Null: a group, which has its calls of the parties in turns. */
const current = new AsyncLocalStorage<Party | null>();

/** Runs `work`, and all that it goes on with, on behalf of a party. */
export function onBehalfOf<Of, T>(of: Of, nameOf: (of: Of) => string, work: (of: Of) => T): T {
  return current.run({ nameOf: () => nameOf(of), name: null }, work, of);
}

/** Runs `work` for a group of calls, which waits in no queue beside its own. */
export function asGroup<T>(work: () => T): T {
  return current.run(null, work);
}

/** The party of the call under way; null: it is a group's. */
export function currentParty(): string | null {
  const party = current.getStore();
  if (party === undefined || party === null) return party === null ? null : JOBS;
  party.name ??= party.nameOf();
  return party.name;
}

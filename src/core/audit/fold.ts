/** Deeds of one action by the credentials of one provider that get one entry together. */

import { isoTime } from '../calendar.ts';
import type { Act, Actor } from '../port/audit.ts';
import type { Deed } from './entry.ts';

/** Actors that an entry names with their deeds; it counts those of others together. */
const ACTORS_MAX = 8;
const OTHERS = 'others';

export interface Fold {
  count: number;
  /** Id of the record of the first deed; null: it had none. */
  firstId: number | null;
  fromMs: number;
  untilMs: number;
  /** The last deed, whose facts the entry has, and its actor. */
  last: { actor: Actor; deed: Deed };
  /** The number of deeds by actor. */
  actors: Readonly<Record<string, number>>;
}

const actorName = ({ name, key }: Actor) => (key === undefined ? name : `${name} (key ${key})`);

const idIn = ({ object }: Deed): number | null => {
  const id = object['install_id'] ?? object['id'] ?? object['job'];
  return typeof id === 'number' ? id : null;
};

/** Adds a deed to those that are folded; null: there are none. */
export function foldDeed(before: Fold | null, { actor, atMs }: Act, deed: Deed): Fold {
  const actors = before?.actors ?? {};
  const own = actorName(actor);
  const name = own in actors || Object.keys(actors).length < ACTORS_MAX ? own : OTHERS;
  return {
    count: (before?.count ?? 0) + 1,
    firstId: before === null ? idIn(deed) : before.firstId,
    fromMs: before?.fromMs ?? atMs,
    untilMs: atMs,
    last: { actor, deed },
    actors: { ...actors, [name]: (actors[name] ?? 0) + 1 },
  };
}

/** Returns the deed of folded deeds: the last one, with what the others had in common. */
export function deedOfFold({ count, firstId, fromMs, untilMs, last, actors }: Fold): Deed {
  const by = Object.entries(actors).map(([name, deeds]) => `${name}: ${deeds}`);
  const object = {
    ...last.deed.object,
    folded: count,
    ...(firstId !== null && { first_id: firstId, last_id: idIn(last.deed) }),
    since: isoTime(fromMs),
    until: isoTime(untilMs),
    by: by.join(', '),
  };
  return { ...last.deed, object };
}

/** Returns whether a deed is that of folded deeds. */
export const isFold = ({ object }: Pick<Deed, 'object'>): boolean => 'folded' in object;

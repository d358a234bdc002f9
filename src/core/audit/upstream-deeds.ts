/** Deeds about upstreams of the gate that are kept in the database: see ./deeds.ts. */

import type { HeldPass } from '../port/follow.ts';
import type { UpstreamKeys } from '../port/upstream.ts';
import { changesOf, type Deed, type Facts } from './entry.ts';

/** Returns the keys as facts: a list becomes one text. */
const factsOf = (keys: UpstreamKeys): Facts =>
  Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.join(',') : factOf(value),
    ]),
  );

const factOf = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean' ? value : String(value);

const objectOf = (host: string, { url, provider }: UpstreamKeys): Facts => ({
  host,
  url: String(url),
  provider: String(provider),
});

export const addUpstream = (host: string, keys: UpstreamKeys): Deed => ({
  action: 'upstream.add',
  object: objectOf(host, keys),
});

export function changeUpstream(
  host: string,
  before: UpstreamKeys,
  after: UpstreamKeys,
): Deed | null {
  const change = changesOf(withNull(before, after), withNull(after, before));
  return change && { action: 'upstream.update', object: { host }, change };
}

/** Returns the facts of keys, with null for those that only `other` has. */
const withNull = (keys: UpstreamKeys, other: UpstreamKeys): Facts => ({
  ...Object.fromEntries(Object.keys(other).map((key) => [key, null])),
  ...factsOf(keys),
});

export const removeUpstream = (host: string, keys: UpstreamKeys): Deed => ({
  action: 'upstream.remove',
  object: objectOf(host, keys),
});

export const acceptFollow = (host: string, { missingCount, knownCount }: HeldPass): Deed => ({
  action: 'follow.accept',
  object: { host, missing: missingCount, known: knownCount },
});

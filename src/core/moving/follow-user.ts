/** Users of a followed panel: their identity, and what is remembered of them. */

import { createHmac } from 'node:crypto';
import { ONE_LINE_LENGTH_MAX } from '../formats.ts';
import type { PanelUser } from '../panel/cells.ts';
import type { FollowedUser } from '../port/follow.ts';
import { plausibleEnd } from '../subscription-figures.ts';
import { tidyFact } from '../text.ts';
import { keyHashesOf, type PanelRules } from './panel-user.ts';

/** A user with the keyed hash of its identity. */
export interface ListedUser {
  userHash: string;
  user: PanelUser;
}

/** The needs of a reading for `follow`. */
export interface Listing {
  /** The key of the hashes, hex. */
  hashKey: string;
  /** False: names and notes stay where they are. */
  withNotes: boolean;
}

/** The longest key that is passed on: no link has one that is longer. */
const KEY_LENGTH_MAX = 512;
/** Characters of such a hash in hex: 128 bits. */
const HASH_LENGTH = 32;
/** Two ends so near are the same, ms: a panel may compute one at each read. */
const END_ALIKE_MS = 3_600_000;

/**
 * Returns users in the order of the keyed hashes of their identity, which has the time at which the
 * panel made them: one that is made again under a name is another.
 */
export function listedUsers(
  users: Iterable<PanelUser>,
  { hashKey, withNotes }: Listing,
): ListedUser[] {
  const key = Buffer.from(hashKey, 'hex');
  const listed = Array.from(users, (user): ListedUser => {
    const madeAtS = Math.floor((user.panelCreatedAtMs ?? 0) / 1_000);
    const identity = JSON.stringify([user.id ?? user.key, madeAtS]);
    const hash = createHmac('sha256', key).update(identity).digest('hex');
    const note = withNotes ? tidyFact(user.note.toWellFormed(), ONE_LINE_LENGTH_MAX) : '';
    const short = {
      id: user.id && within(user.id),
      key: within(user.key),
      name: '',
      note,
      devices: [],
    };
    return { userHash: hash.slice(0, HASH_LENGTH), user: { ...user, ...short } };
  });
  return listed.sort((one, other) => (one.userHash < other.userHash ? -1 : 1));
}

const within = (text: string) => (text.length > KEY_LENGTH_MAX ? '' : text);

/** Returns what is remembered of a user; null: no link can have its key. */
export function followedOf(
  { user, userHash }: ListedUser,
  rules: PanelRules,
  withNotes: boolean,
): FollowedUser | null {
  const keys = keyHashesOf(rules, user);
  if (keys === null) return null;
  const { limit, isUnlimited, endsAtMs, state, note } = user;
  return {
    userHash,
    keyHash: keys.now,
    state,
    panelLimit: isUnlimited ? 0 : limit,
    endsAtMs: plausibleEnd(endsAtMs, rules.nowMs),
    note: withNotes ? note : null,
    missedCount: 0,
  };
}

/** Returns whether a user differs from what is remembered. */
export function differs(before: FollowedUser, now: FollowedUser): boolean {
  const isOtherEnd =
    before.endsAtMs === null || now.endsAtMs === null
      ? before.endsAtMs !== now.endsAtMs
      : Math.abs(before.endsAtMs - now.endsAtMs) >= END_ALIKE_MS;
  return (
    isOtherEnd ||
    before.keyHash !== now.keyHash ||
    before.state !== now.state ||
    before.panelLimit !== now.panelLimit ||
    before.note !== now.note
  );
}

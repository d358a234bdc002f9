/**
 * The bounds of the entries that the credentials of one provider can make, so that they push no
 * entries of others out of the log. Deeds about links, domains, messages and sessions fold beyond
 * {@link LISTED_MAX} a minute: those of one action get one entry together. All others, such as
 * those about keys, staff and settings, never fold, so that none can be hidden among many: beyond
 * {@link ALONE_MAX} a minute they are refused. Each kind has half of a provider's share of a day.
 */

import { DAY_MS, HOUR_MS } from '../calendar.ts';
import type { Actor } from '../port/audit.ts';
import { TooManyDeeds } from '../port/store.ts';
import type { Action, Deed } from './entry.ts';
import { isFold } from './fold.ts';

/** As many entries a minute as a provider gets of sends by default. */
export const LISTED_MAX = 600;
/** Most deeds a minute that never fold. */
export const ALONE_MAX = 60;
export const LISTED_WINDOW_MS = 60_000;

/** The part of `audit.entries_max` that one provider may fill in a day. */
const SHARE = 0.1;
/** Entries of a day when the setting is not known: the share of its default. */
const DAY_COUNT_DEFAULT = 100_000;

const FOLDING: ReadonlySet<Action> = new Set<Action>([
  'install.add',
  'install.update',
  'install.import',
  'install.free',
  'install.revoke',
  'install.remove',
  'install.update-many',
  'install.remove-many',
  'hwid.delete',
  'hwid.name',
  // Their calls answer as the contract has it: none is refused because of the log.
  'domain.activate',
  'domain.rename',
  'domain.delete',
  'notification.send',
  'command.send',
  'distribution.cancel',
  'session.open',
  'session.end',
]);

/** Never more than the cap on bindings, which are not removed. */
const CAPPED: ReadonlySet<Action> = new Set<Action>(['domain.add']);

/** The entries of a provider in the present minute and day. */
export interface AuditTally {
  /** Start of the present minute, UTC ms. */
  fromMs: number;
  /** Entries in it of deeds that may fold, and of those that never do. */
  count: number;
  aloneCount: number;
  /** The present day, from 1970, and the entries in it. */
  day: number;
  dayCount: number;
  aloneDayCount: number;
  /** Deeds that a version before folds counted without an entry. */
  unlisted: number;
}

/** Returns whether deeds of an actor count: those that a provider's credentials make do. */
export const isBounded = ({ kind, staffOf }: Actor): boolean =>
  kind === 'provider' || kind === 'user' || (kind === 'account' && staffOf !== null);

export const mayFold = ({ action }: Deed): boolean => FOLDING.has(action);

/** Returns whether a deed is refused when there were too many. */
export const isAlone = ({ action }: Deed): boolean => !FOLDING.has(action) && !CAPPED.has(action);

/** Returns the most entries a day of each kind. `entriesMax`: the setting, if it is known. */
export const dayCountMax = (entriesMax: number | undefined) =>
  Math.floor((entriesMax === undefined ? DAY_COUNT_DEFAULT : entriesMax * SHARE) / 2);

/**
 * Returns the tally at `atMs`. A deed of a slow request from before the minute or day counts in it;
 * a clock that was set back by an hour begins another minute.
 */
function tallyAt(tally: AuditTally, atMs: number): AuditTally {
  const { day, fromMs } = tally;
  const today = Math.floor(atMs / DAY_MS);
  const isMinute = atMs < fromMs + LISTED_WINDOW_MS && atMs > fromMs - HOUR_MS;
  const isDay = today === day || today === day - 1;
  return {
    ...tally,
    ...(!isMinute && { fromMs: atMs, count: 0, aloneCount: 0 }),
    ...(!isDay && { day: today, dayCount: 0, aloneDayCount: 0 }),
  };
}

/**
 * Counts a deed that folds. Returns the new tally, and the deed for its entry; null: it folds. The
 * entry of folded deeds counts in the day alone, and is never folded again.
 */
export function countFolding(
  before: AuditTally,
  atMs: number,
  deed: Deed,
  entriesMax?: number,
): { after: AuditTally; listed: Deed | null } {
  const tally = tallyAt(before, atMs);
  const { count, dayCount, unlisted } = tally;
  if (isFold(deed)) return { after: { ...tally, dayCount: dayCount + 1 }, listed: deed };
  if (count >= LISTED_MAX || dayCount >= dayCountMax(entriesMax)) {
    return { after: tally, listed: null };
  }
  const object = unlisted === 0 ? deed.object : { ...deed.object, unlisted_before: unlisted };
  const after = { ...tally, count: count + 1, dayCount: dayCount + 1, unlisted: 0 };
  return { after, listed: { ...deed, object } };
}

/** Counts a deed that never folds. Throws {@link TooManyDeeds} if there were too many. */
export function countAlone(before: AuditTally, atMs: number, entriesMax?: number): AuditTally {
  const tally = tallyAt(before, atMs);
  const { aloneCount, aloneDayCount } = tally;
  if (aloneCount >= ALONE_MAX || aloneDayCount >= dayCountMax(entriesMax)) {
    throw new TooManyDeeds();
  }
  return { ...tally, aloneCount: aloneCount + 1, aloneDayCount: aloneDayCount + 1 };
}

/**
 * What a key changed of the words and addresses that reminders and `my` show. A stolen key must not
 * become a pay page for all users: such a change is used after {@link WAIT_MS}, or when a person
 * has looked through it. Until then the value before is used.
 */

import { DAY_MS } from './calendar.ts';
import type { Act } from './port/audit.ts';
import type { Unconfirmed } from './port/reminder.ts';

/** The time after which a change by a key is used. */
export const WAIT_MS = DAY_MS;

/** Returns whether a change waits; `confirmedAtMs`: until when a person looked through them. */
export const waits = ({ atMs }: { atMs: number }, confirmedAtMs: number, nowMs: number): boolean =>
  atMs > confirmedAtMs && nowMs < atMs + WAIT_MS;

/** Returns the value that is used. */
export const usedNow = <T>(
  value: Unconfirmed<T>,
  confirmedAtMs: number,
  nowMs: number,
): T | null => (waits(value, confirmedAtMs, nowMs) ? value.former : value.now);

/**
 * Returns what is kept of a change that an act makes: the value that was used before it, if a key
 * made it. `before` null: there was no record.
 */
export function formerOf<T>(
  before: Unconfirmed<T> | null,
  confirmedAtMs: number,
  { actor, atMs }: Pick<Act, 'actor' | 'atMs'>,
): Omit<Unconfirmed<T>, 'now'> {
  if (actor.kind !== 'provider') return { former: null, atMs: 0 };
  return { former: before && usedNow(before, confirmedAtMs, atMs), atMs };
}

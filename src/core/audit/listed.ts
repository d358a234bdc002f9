/**
 * The bound of entries about repeatable deeds. In each {@link LISTED_WINDOW_MS} a provider gets
 * {@link LISTED_MAX} entries for them; further deeds are only counted, and the next entry has their
 * number. So no provider can push the entries of others out of the log.
 */

import { HOUR_MS } from '../calendar.ts';
import type { Actor } from '../port/audit.ts';
import type { Action, Deed } from './entry.ts';

/** As many entries as a provider gets of sends by default. */
export const LISTED_MAX = 600;
export const LISTED_WINDOW_MS = 60_000;

/** Deeds without another bound: additions have a cap, and sends have their own bound. */
const REPEATABLE: ReadonlySet<Action> = new Set<Action>([
  'install.update',
  'hwid.delete',
  'domain.activate',
  'domain.rename',
  'domain.delete',
  'webhook.add',
  'webhook.update',
  'webhook.rotate',
  'webhook.remove',
]);

/** The repeatable deeds of a provider. */
export interface ChangeCount {
  /** Start of the present window, UTC ms. */
  fromMs: number;
  /** Entries in the present window. */
  count: number;
  /** Deeds without an entry since the last entry. */
  unlisted: number;
}

/** Returns true if a deed counts towards the bound. */
export function isCounted({ kind }: Actor, { action }: Deed): boolean {
  return kind === 'provider' && REPEATABLE.has(action);
}

/**
 * Counts a deed at `atMs`. Returns the new count, and the deed for its entry with the number of
 * unlisted ones before it; null: it gets no entry. A deed of a slow request from before the window
 * counts in it; a clock that was set back by an hour begins another window.
 */
export function countDeed(
  { fromMs, count, unlisted }: ChangeCount,
  atMs: number,
  deed: Deed,
): { after: ChangeCount; listed: Deed | null } {
  const isInWindow = atMs < fromMs + LISTED_WINDOW_MS && atMs > fromMs - HOUR_MS;
  if (isInWindow && count >= LISTED_MAX) {
    return { after: { fromMs, count, unlisted: unlisted + 1 }, listed: null };
  }
  const window = isInWindow ? { fromMs, count: count + 1 } : { fromMs: atMs, count: 1 };
  const object = unlisted === 0 ? deed.object : { ...deed.object, unlisted_before: unlisted };
  return { after: { ...window, unlisted: 0 }, listed: { ...deed, object } };
}

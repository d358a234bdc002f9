/**
 * Changes that have no entry of their own. A provider that changes things over and over has an
 * entry for each of {@link LISTED_MAX} changes in {@link LISTED_WINDOW_MS}, and beyond that for
 * those that double their number: the log is bounded, and no provider's changes push out what
 * others did. An entry says how many before it have none.
 */

import type { Actor } from '../port/audit.ts';
import type { Action, Deed } from './entry.ts';

export const LISTED_MAX = 10_000;
export const LISTED_WINDOW_MS = 60 * 60_000;

/**
 * Deeds that a provider can repeat at full speed, without anything else holding it up: adding ends
 * at a cap, and sends have a number a minute.
 */
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

/** A provider's repeatable changes. */
export interface ChangeCount {
  /** Beginning of the window that they are counted in, UTC ms. */
  fromMs: number;
  /** Their number in it. */
  count: number;
  /** Number of those without an entry since the last one with an entry. */
  unlisted: number;
}

/** Tells whether a deed is one of those that are counted. */
export function isCounted({ kind }: Actor, { action }: Deed): boolean {
  return kind === 'provider' && REPEATABLE.has(action);
}

/**
 * Counts one more at `atMs`: it has an entry if `unlisted` is 0 then. A clock set far back begins
 * another window, a call that was held back does not.
 */
export function countChange({ fromMs, count, unlisted }: ChangeCount, atMs: number): ChangeCount {
  const isInWindow = Math.abs(atMs - fromMs) < LISTED_WINDOW_MS;
  const counted = isInWindow ? { fromMs, count: count + 1 } : { fromMs: atMs, count: 1 };
  return { ...counted, unlisted: isListed(counted.count) ? 0 : unlisted + 1 };
}

function isListed(count: number): boolean {
  const beyond = count - LISTED_MAX;
  return beyond <= 0 || (beyond & (beyond - 1)) === 0;
}

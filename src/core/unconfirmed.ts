/**
 * Changes by a key of the words and addresses that reminders and `my` show. A stolen key must not
 * become a pay page for all users: such a change is used after {@link WAIT_MS}, or when a person
 * has looked through it. Until then the value before is used.
 */

import { DAY_MS } from './calendar.ts';
import type { Act } from './port/audit.ts';
import type { ChangedButtons, Unconfirmed } from './port/reminder.ts';
import type { Buttons } from './port/ride.ts';

/** The time after which a change by a key is used. */
export const WAIT_MS = DAY_MS;

/** Returns whether a change waits; `confirmedAtMs`: until when a person looked through them. */
export const waits = ({ atMs }: { atMs: number }, confirmedAtMs: number, nowMs: number): boolean =>
  atMs > confirmedAtMs && nowMs < atMs + WAIT_MS;

/** Returns the value that is used; null: there is none yet. */
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

/** The texts and addresses that wait; only a link has a greeting, which reminders show. */
export interface Shown extends Buttons {
  greeting?: string | null;
}

/** Returns what users are shown of a provider or link as a value that a key may have changed. */
function unconfirmedButtons(own: ChangedButtons & Shown): Unconfirmed<Shown> {
  const { buttonsAtMs: atMs, formerButtons, greeting, supportUrl, webPageUrl } = own;
  const now = { supportUrl, webPageUrl, ...(greeting !== undefined && { greeting }) };
  const former = formerButtons === null ? null : { ...now, ...JSON.parse(formerButtons) };
  return { now, former, atMs };
}

export const NO_BUTTONS: Buttons = { supportUrl: null, webPageUrl: null };
const BUTTON_FIELDS = ['supportUrl', 'webPageUrl'] as const;
const SHOWN_FIELDS = [...BUTTON_FIELDS, 'greeting'] as const;

/** Returns the addresses and the greeting of a provider or link that reminders and `my` use. */
export const usedButtons = (
  own: ChangedButtons & Shown,
  confirmedAtMs: number,
  nowMs: number,
): Shown => usedNow(unconfirmedButtons(own), confirmedAtMs, nowMs) ?? NO_BUTTONS;

/** Returns the addresses that differ. */
export const movedButtons = (before: Buttons, after: Buttons) =>
  BUTTON_FIELDS.filter((field) => before[field] !== after[field]);

/** Returns the addresses that differ, and `greeting` if it does. */
export const movedShown = (before: Shown, after: Shown) =>
  SHOWN_FIELDS.filter((field) => before[field] !== after[field]);

/**
 * Returns what is kept of a change of what users are shown. A person's change is used at once; a
 * key's change beside it goes on waiting.
 */
export function formerButtonsOf(
  before: ChangedButtons & Shown,
  after: Shown,
  confirmedAtMs: number,
  { actor, atMs }: Pick<Act, 'actor' | 'atMs'>,
): ChangedButtons {
  const used = usedButtons(before, confirmedAtMs, atMs);
  if (actor.kind === 'provider') return { formerButtons: JSON.stringify(used), buttonsAtMs: atMs };
  const moved = movedShown(before, after);
  const next = { ...used, ...Object.fromEntries(moved.map((field) => [field, after[field]])) };
  if (movedShown(next, after).length === 0) return { formerButtons: null, buttonsAtMs: 0 };
  return { formerButtons: JSON.stringify(next), buttonsAtMs: before.buttonsAtMs };
}

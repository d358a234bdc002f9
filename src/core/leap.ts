/**
 * The rule of leaps. The steady time is a clock that no setting of the machine's clock moves: it
 * goes by CLOCK_BOOTTIME, and follows the machine's clock by an hour a day at most. The machine's
 * clock leaps when it is over an hour apart from it; at a start, when it is before the last time
 * stored, or over 30 days after it. docs/time.md says what a leap suspends.
 *
 * | A leap | Then |
 * |---|---|
 * | goes back to the steady time | it is over; records of the future are cut: docs/time.md |
 * | lasts 24 hours in which a server runs | the machine's clock is right; records are cut too |
 * | is confirmed by the operator | as above |
 * | goes elsewhere | another leap begins |
 */

import { DAY_MS, HOUR_MS } from './calendar.ts';
import { counted } from './counted.ts';
import type { KeptTime, Leap } from './port/time.ts';

/** The greatest difference between the two clocks that is no leap. */
export const LEAP_MS = HOUR_MS;
/** The time after which a leap is taken for right. */
export const LEAP_LASTS_MS = 24 * HOUR_MS;
/** The longest pause between two runs after which the clock is taken for right. */
const PAUSE_MAX_MS = 30 * DAY_MS;
/** A start before the last time stored that is no leap: clocks of nodes differ. */
const START_BACK_MS = 60_000;
/** The most suspended time in {@link BUDGET_DAYS} days of running. */
const SUSPENDED_MAX_MS = 48 * HOUR_MS;
const BUDGET_DAYS = 30;
/** Share of the time that passes by which the steady time follows the clock: an hour a day. */
const FOLLOWED_SHARE = 1 / 24;

/** The change of a leap; null: none. */
export type LeapChange = 'leapt' | 'back' | 'trusted' | null;

export type TimeState = Omit<KeptTime, 'name'>;

export interface Moved {
  state: TimeState;
  change: LeapChange;
}

/** Returns the state of a run that begins, from the one stored by an earlier run; null: none. */
export function begun(kept: TimeState | null, wallMs: number): Moved {
  if (kept === null) {
    return { state: { atMs: wallMs, ranMs: 0, leap: null, spentMs: {} }, change: null };
  }
  const leadMs = wallMs - kept.atMs;
  const isFine = leadMs >= -START_BACK_MS && leadMs <= PAUSE_MAX_MS;
  if (kept.leap === null && isFine) return { state: { ...kept, atMs: wallMs }, change: null };
  // The time between two runs is unknown: a clock within 30 days may be right.
  const slackMs = PAUSE_MAX_MS;
  if (kept.leap === null) {
    return { state: { ...kept, leap: { ...beginning(kept, leadMs), slackMs } }, change: 'leapt' };
  }
  if (isBack({ ...kept.leap, slackMs }, leadMs)) return over(kept, wallMs, 'back');
  return { state: { ...kept, leap: { ...kept.leap, leadMs, slackMs } }, change: null };
}

/** Returns the state `elapsedMs` later by the steady clock, when the machine's shows `wallMs`. */
export function stepped(before: TimeState, wallMs: number, elapsedMs: number): Moved {
  const atMs = before.atMs + elapsedMs;
  const state = { ...before, atMs, ranMs: before.ranMs + elapsedMs };
  const leadMs = wallMs - atMs;
  const { leap } = state;
  if (leap === null) {
    if (Math.abs(leadMs) > LEAP_MS) {
      return { state: { ...state, leap: beginning(state, leadMs) }, change: 'leapt' };
    }
    const mostMs = elapsedMs * FOLLOWED_SHARE;
    const followedMs = Math.max(-mostMs, Math.min(mostMs, leadMs));
    return { state: { ...state, atMs: atMs + followedMs }, change: null };
  }
  if (isBack(leap, leadMs)) return over(state, wallMs, 'back');
  const spentMs = isSuspended(before) ? spentAfter(state, elapsedMs) : state.spentMs;
  if (Math.abs(leadMs - leap.leadMs) > LEAP_MS) {
    const other = { ...beginning(state, leadMs), slackMs: leap.slackMs };
    return { state: { ...state, spentMs, leap: other }, change: 'leapt' };
  }
  const lasted = { ...state, spentMs };
  const isLong = state.ranMs - leap.sinceRanMs >= LEAP_LASTS_MS;
  return isLong ? over(lasted, wallMs, 'trusted') : { state: lasted, change: null };
}

/** Ends a leap: the machine's clock is right. */
export function over(state: TimeState, wallMs: number, change: 'back' | 'trusted'): Moved {
  return { state: { ...state, atMs: wallMs, leap: null }, change };
}

/** Returns true while a leap suspends deletion. */
export function isSuspended(state: TimeState): boolean {
  return state.leap !== null && suspendedMs(state) < SUSPENDED_MAX_MS;
}

/** Returns true if earlier leaps have used up the time for which deletion may be suspended. */
export function isSpent(state: TimeState): boolean {
  return suspendedMs(state) >= SUSPENDED_MAX_MS;
}

const beginning = ({ ranMs }: TimeState, leadMs: number): Leap => ({
  leadMs,
  sinceRanMs: ranMs,
  slackMs: LEAP_MS,
});

/** Returns true if a clock that leapt is right again. */
function isBack(leap: Leap, leadMs: number): boolean {
  if (Math.abs(leadMs) <= LEAP_MS) return true;
  const mayBe = leadMs >= -LEAP_MS && leadMs <= leap.slackMs;
  return mayBe && (leap.leadMs < 0 || leap.leadMs - leadMs > LEAP_MS);
}

const dayOf = (ranMs: number) => Math.floor(ranMs / DAY_MS);

/** Returns the suspended time of the last {@link BUDGET_DAYS} days, and of the day before them. */
function suspendedMs({ spentMs, ranMs }: TimeState): number {
  return recent(spentMs, ranMs).reduce((sum, [, ms]) => sum + ms, 0);
}

const recent = (spentMs: TimeState['spentMs'], ranMs: number) =>
  Object.entries(spentMs).filter(([day]) => Number(day) >= dayOf(ranMs) - BUDGET_DAYS);

function spentAfter({ spentMs, ranMs }: TimeState, elapsedMs: number): TimeState['spentMs'] {
  const day = String(dayOf(ranMs));
  const kept = Object.fromEntries(recent(spentMs, ranMs));
  return { ...kept, [day]: (kept[day] ?? 0) + elapsedMs };
}

/** Says how far a clock is ahead or behind. */
export function leadText(leadMs: number): string {
  const hours = Math.abs(leadMs) / HOUR_MS;
  const much =
    hours >= 48 ? counted(Math.round(hours / 24), 'day') : `${Math.round(hours * 10) / 10} h`;
  return `it is ${much} ${leadMs < 0 ? 'behind' : 'ahead'}`;
}

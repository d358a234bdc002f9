/**
 * When reminders are due, and for how long. Each is sent once in a period of the subscription; of
 * one kind the nearest one alone. The bounds of a device hold whatever the
 * figures do: one of a reminder in seven days, and three of all of the provider's.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS, utcDay } from './calendar.ts';
import type { OwnQuiet } from './port/reminder.ts';
import type { CourseFigures, OpenReminder, Rule, Wanted } from './port/reminding.ts';
import type { Figures } from './port/subscription-figures.ts';
import { usedPercent } from './subscription-figures.ts';

/** The time in which a device gets a reminder once, and so many of all. */
export const BOUND_MS = 7 * DAY_MS;
export const IN_BOUND_MAX = 3;

/** The time for which a reminder after the end, or after silence, is due: a server may be off. */
const DUE_MS = 2 * DAY_MS;
/** The time for which a reminder that was sent goes on, ms: longer than its round. */
const GOES_ON_MS = 4 * DAY_MS;
/** An end that moves by less is the same one. */
const SAME_END_MS = HOUR_MS;

/** The share of a provider's links, and their least number, whose moves at once stop reminders. */
const MOVED_SHARE = 0.05;
const MOVED_MIN = 5;
/** Links that move within this time move at once. */
export const MOVED_MS = HOUR_MS;

/** Returns whether so many links moved at once that a person must look at it. */
export const isMassMove = (moved: number, links: number): boolean =>
  moved >= MOVED_MIN && moved > links * MOVED_SHARE;

/** Returns whether a reminder is true of figures. */
export function holds(
  { kind, amount }: Pick<Rule, 'kind' | 'amount'>,
  figures: Figures | null,
  nowMs: number,
): boolean {
  if (kind === 'inactive') return true;
  if (figures === null) return false;
  const { endsAtMs } = figures;
  const hasEnded = endsAtMs !== null && nowMs >= endsAtMs;
  switch (kind) {
    case 'before_end':
      return endsAtMs !== null && !hasEnded && nowMs >= endsAtMs - amount * HOUR_MS - SAME_END_MS;
    case 'after_end':
      return endsAtMs !== null && nowMs >= endsAtMs + amount * DAY_MS;
    case 'traffic':
      return !hasEnded && (usedPercent(figures) ?? 0) >= amount;
  }
}

/** Returns whether a reminder is to be sent. */
function isDue(rule: Rule, figures: Figures, nowMs: number): boolean {
  if (!holds(rule, figures, nowMs)) return false;
  const { kind, amount } = rule;
  const endsAtMs = figures.endsAtMs ?? 0;
  if (kind === 'before_end') return nowMs >= endsAtMs - amount * HOUR_MS;
  return kind !== 'after_end' || nowMs < endsAtMs + amount * DAY_MS + DUE_MS;
}

/** The reminders that go by figures, with the order in which they come nearer to their subject. */
const NEARER = { before_end: -1, after_end: 1, traffic: 1 } as const;

/** Returns the reminders that the devices of a link are to have: of each kind the nearest. */
export function wantedOf(figures: CourseFigures, rules: readonly Rule[], nowMs: number): Wanted[] {
  const { installId, periodAtMs, trafficAtMs } = figures;
  const due = rules.filter((rule) => rule.kind !== 'inactive' && isDue(rule, figures, nowMs));
  return Object.entries(NEARER).flatMap(([kind, sign]) => {
    const [nearest] = due
      .filter((rule) => rule.kind === kind)
      .sort((a, b) => sign * (b.amount - a.amount));
    if (nearest === undefined) return [];
    const period = kind === 'traffic' ? Math.max(periodAtMs, trafficAtMs) : periodAtMs;
    return [{ installId, reminderId: nearest.id, period }];
  });
}

/**
 * Returns the times in which a link was last seen that is now due for a reminder. A time that is
 * kept stands for its UTC day.
 */
export function silenceOf({ amount }: Pick<Rule, 'amount'>, nowMs: number) {
  const untilMs = (utcDay(nowMs) - amount) * DAY_MS;
  return { fromMs: untilMs - DUE_MS, untilMs };
}

/** Returns whether a reminder that a device has is over. */
export function isOver(open: OpenReminder, nowMs: number): boolean {
  const { kind, amount, figures, sentAtMs } = open;
  if (kind === null || amount === null || nowMs >= sentAtMs + GOES_ON_MS) return true;
  return !holds({ kind, amount }, figures, nowMs);
}

/** Returns the minutes of the day of a time `HH:MM`, or of a distance from UTC. */
function minutesIn(text: string): number {
  const [hours = 0, minutes = 0] = text.replace(/^[+-]/, '').split(':').map(Number);
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

const DAY_MINUTES = 1_440;

/** Returns whether a time is in the quiet hours of a provider; `zone`: the zone by default. */
export function isQuiet(
  { quietFrom, quietTo, timeZone }: OwnQuiet,
  zone: string,
  nowMs: number,
): boolean {
  if (quietFrom === null || quietTo === null) return false;
  const [from, to] = [minutesIn(quietFrom), minutesIn(quietTo)];
  const minute = Math.floor(nowMs / MINUTE_MS) + minutesIn(timeZone ?? zone);
  const sinceFrom = (((minute - from) % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
  return sinceFrom < (to - from + DAY_MINUTES) % DAY_MINUTES;
}

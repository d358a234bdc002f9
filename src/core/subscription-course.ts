/**
 * The course of a subscription: where its periods begin, and the events about each. They are
 * bounded whatever a panel says: a renewal has one a day, and only after such an event the end and
 * the traffic have others.
 */

import { DAY_MS, HOUR_MS } from './calendar.ts';
import * as happenings from './event/subscription-happenings.ts';
import type { Happening } from './port/event.ts';
import type { Course, CourseFigures, Rule } from './port/reminding.ts';
import type { Figures, KeptFigures } from './port/subscription-figures.ts';
import { hasBegunAgain, isFresh, isRenewal, usedPercent } from './subscription-figures.ts';

/** The events that come although no reminder has these amounts: hours, and per cent. */
const HOURS_TOLD = [72, 24];
const PERCENTS_TOLD = [80, 95];
/** An end that is older when it is first seen has no event. */
const NEWS_MS = 2 * DAY_MS;

/** An end within this time is soon. */
const SOON_MS = 3 * DAY_MS;

/** The course of a subscription whose figures are first read. */
const begun = (nowMs: number): Course => ({
  periodAtMs: nowMs,
  trafficAtMs: nowMs,
  movedAtMs: null,
  renewalToldAtMs: null,
  toldHours: null,
  toldPercent: null,
});

/** Returns whether a read alone renews a subscription, or makes it end soon that did not. */
function moves(before: Figures, now: Figures, nowMs: number): boolean {
  if (isRenewal(before, now)) return true;
  const { endsAtMs } = now;
  if (endsAtMs === null || endsAtMs > nowMs + SOON_MS) return false;
  return before.endsAtMs === null || Math.abs(before.endsAtMs - endsAtMs) >= DAY_MS;
}

/** Returns the course after a read, and the event about it; `isRenewed` as `afterRead` says. */
export function courseAfter(
  before: CourseFigures | null,
  now: KeptFigures,
  isRenewed: boolean,
  nowMs: number,
): { course: Course; news: Happening | null } {
  if (before === null) return { course: begun(nowMs), news: null };
  const { installId, trafficAtMs, renewalToldAtMs } = before;
  const course: Course = {
    periodAtMs: before.periodAtMs,
    trafficAtMs,
    movedAtMs: moves(before, now, nowMs) ? nowMs : before.movedAtMs,
    renewalToldAtMs,
    toldHours: before.toldHours,
    toldPercent: before.toldPercent,
  };
  if (hasBegunAgain(before, now)) {
    course.trafficAtMs = nowMs;
    if (nowMs - trafficAtMs >= DAY_MS) course.toldPercent = null;
  }
  if (!isRenewed) return { course, news: null };
  Object.assign(course, { periodAtMs: nowMs, movedAtMs: nowMs });
  if (renewalToldAtMs !== null && nowMs - renewalToldAtMs < DAY_MS) return { course, news: null };
  Object.assign(course, { renewalToldAtMs: nowMs, toldHours: null, toldPercent: null });
  return { course, news: happenings.linkRenewed(installId, now) };
}

const amountsOf = (rules: readonly Rule[], kind: Rule['kind']) =>
  rules.filter((rule) => rule.kind === kind).map(({ amount }) => amount);

/** Returns the fewest hours before the end that are reached, 0 at the end; null: none are. */
function hoursReached(endsAtMs: number | null, rules: readonly Rule[], nowMs: number) {
  if (endsAtMs === null) return null;
  if (nowMs >= endsAtMs) return 0;
  const all = [...HOURS_TOLD, ...amountsOf(rules, 'before_end')];
  const reached = all.filter((hours) => nowMs >= endsAtMs - hours * HOUR_MS);
  return reached.length === 0 ? null : Math.min(...reached);
}

function percentReached(figures: Figures, rules: readonly Rule[]) {
  const used = usedPercent(figures);
  const all = [...PERCENTS_TOLD, ...amountsOf(rules, 'traffic')];
  const reached = all.filter((percent) => used !== null && used >= percent);
  return reached.length === 0 ? null : Math.max(...reached);
}

/**
 * Returns the events that are due about a link, and the course with them; null: none. Figures that
 * were read long ago may be wrong, and cause none.
 */
export function courseNews(
  figures: CourseFigures,
  rules: readonly Rule[],
  nowMs: number,
): { told: Pick<Course, 'toldHours' | 'toldPercent'>; news: Happening[] } | null {
  if (!isFresh(figures, nowMs)) return null;
  const { installId, endsAtMs, toldHours, toldPercent } = figures;
  const hours = hoursReached(endsAtMs, rules, nowMs);
  const percent = hours === 0 ? null : percentReached(figures, rules);
  const isNearer = hours !== null && (toldHours === null || hours < toldHours);
  const isMore = percent !== null && (toldPercent === null || percent > toldPercent);
  if (!isNearer && !isMore) return null;
  const news: Happening[] = [];
  const isOld = endsAtMs !== null && nowMs - endsAtMs >= NEWS_MS;
  if (isNearer && hours === 0 && !isOld) news.push(happenings.linkEnded(installId, figures));
  if (isNearer && hours > 0) news.push(happenings.linkEnding(installId, figures, nowMs));
  if (isMore) news.push(happenings.linkTrafficLow(installId, figures, percent));
  const told = {
    toldHours: isNearer ? hours : toldHours,
    toldPercent: isMore ? percent : toldPercent,
  };
  return { told, news };
}

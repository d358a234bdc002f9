/**
 * Notices by the clock: of each the state of its subject, as a mark, and the event. A notice is
 * given once for each state.
 */

import { DAY_MS, utcDay } from '../calendar.ts';
import type { Happening } from '../port/event.ts';
import { diskLow, ending, subscriptionEnded } from './happenings.ts';

export interface Notice {
  mark: string;
  happening: Happening;
}

/** Days before the end of a certificate; one of an authority is renewed before. */
const CERTIFICATE_DAYS = [14, 7, 3, 1];

/** Room below which a disk is low: an alert for it begins there too. */
const DISK_LOW_BYTES = 1e9;

/**
 * The notice about a subscription that ends; null: there is none yet. `days` are those before its
 * end at which its provider is told, in any order.
 */
export function subscriptionNotice(
  activeUntilMs: number,
  days: readonly number[],
  nowMs: number,
): Notice | null {
  if (nowMs < activeUntilMs) return endNotice('subscription.ending', activeUntilMs, days, nowMs);
  return { mark: `${activeUntilMs} ended`, happening: subscriptionEnded(activeUntilMs) };
}

/** The notice about the certificate that is served; null: it holds for long. */
export function certificateNotice(expiresAtMs: number, nowMs: number): Notice | null {
  return endNotice('certificate.ending', expiresAtMs, CERTIFICATE_DAYS, nowMs);
}

/** The notice about the room that a disk has left, one a UTC day; null: there is enough. */
export function diskNotice(freeBytes: number, nowMs: number): Notice | null {
  if (freeBytes >= DISK_LOW_BYTES) return null;
  return { mark: `low on ${utcDay(nowMs)}`, happening: diskLow(freeBytes) };
}

function endNotice(
  kind: 'subscription.ending' | 'certificate.ending',
  endsAtMs: number,
  days: readonly number[],
  nowMs: number,
): Notice | null {
  const reached = days.filter((before) => nowMs >= endsAtMs - before * DAY_MS);
  if (reached.length === 0) return null;
  const daysLeft = Math.max(0, Math.ceil((endsAtMs - nowMs) / DAY_MS));
  const mark = `${endsAtMs} ${Math.min(...reached)}`;
  return { mark, happening: ending(kind, endsAtMs, daysLeft) };
}

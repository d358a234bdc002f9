/** Notices: events by the clock. Each state of a subject, named by a mark, gets one notice. */

import { DAY_MS, utcDay } from '../calendar.ts';
import type { Happening } from '../port/event.ts';
import type { Upkeep } from '../port/upkeep.ts';
import { failureOf, newerVersion } from '../upkeep.ts';
import {
  backupFailed,
  backupRecovered,
  diskLow,
  ending,
  releaseAvailable,
  subscriptionEnded,
} from './happenings.ts';

export interface Notice {
  mark: string;
  /** The beginning that the last mark must have; absent: any. */
  follows?: string;
  happening: Happening;
}

/** Days before the end of a certificate; those of ACME are renewed before. */
const CERTIFICATE_DAYS = [14, 7, 3, 1];

/** Free space below which a disk is low, bytes; the alert has the same bound. */
const DISK_LOW_BYTES = 1e9;

/**
 * Returns the notice about the end of a subscription; null: none is due. `days`: days before the
 * end at which the provider gets one, in any order.
 */
export function subscriptionNotice(
  activeUntilMs: number,
  days: readonly number[],
  nowMs: number,
): Notice | null {
  if (nowMs < activeUntilMs) return endNotice('subscription.ending', activeUntilMs, days, nowMs);
  return { mark: `${activeUntilMs} ended`, happening: subscriptionEnded(activeUntilMs) };
}

/** Returns the notice about the end of the served certificate; null: none is due. */
export function certificateNotice(expiresAtMs: number, nowMs: number): Notice | null {
  return endNotice('certificate.ending', expiresAtMs, CERTIFICATE_DAYS, nowMs);
}

/** Returns the notice about the free space of a disk, one a UTC day; null: there is enough. */
export function diskNotice(freeBytes: number, nowMs: number): Notice | null {
  if (freeBytes >= DISK_LOW_BYTES) return null;
  return { mark: `low on ${utcDay(nowMs)}`, happening: diskLow(freeBytes) };
}

/** The time between two notices of what fails all the while, ms. */
const REMINDER_MS = 7 * DAY_MS;

/**
 * Returns the notice about backups that fail, or that work again after such a notice; null: none is
 * due. `row` is that of backups or of their copies.
 */
export function backupNotice(row: Upkeep): Notice | null {
  const { failingSinceMs, failureCount } = row;
  if (row.task === 'release' || failingSinceMs === null) return null;
  const failing = { task: row.task, failureCount, failingSinceMs };
  const follows = `${failingSinceMs} `;
  const failure = failureOf(row);
  if (failure === null) {
    return { mark: `${follows}over`, follows, happening: backupRecovered(failing) };
  }
  const week = Math.floor((failure.atMs - failingSinceMs) / REMINDER_MS);
  return { mark: `${follows}${week}`, happening: backupFailed(failing, failure.reason) };
}

/** Returns the notice about a newer version, one for each; null: there is none. */
export function releaseNotice(rows: readonly Upkeep[], installed: string): Notice | null {
  const version = newerVersion(rows, installed);
  return version === null
    ? null
    : { mark: version, happening: releaseAvailable(version, installed) };
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

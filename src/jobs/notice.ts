/**
 * Notices: what no write makes happen, but the clock. Each state is told once, also by several
 * processes and after a restart; a look that finds nothing new writes nothing.
 */

import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import {
  certificateNotice,
  diskNotice,
  type Notice,
  subscriptionNotice,
} from '../core/event/notice.ts';
import { nextTurn } from '../core/turn.ts';

export interface NoticeSettings {
  /** Days before the end of a subscription at which its provider is told. */
  readonly webhookEndingDays: readonly number[];
}

const SUBSCRIPTION = 'subscription';

/** Tells providers whose subscription ends, or has ended. */
export async function noticeSubscriptions(
  core: Core,
  { webhookEndingDays: days }: NoticeSettings,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const endsBeforeMs = nowMs + Math.max(0, ...days) * DAY_MS + 1;
  const found = await core.store.listWatchedSubscriptions(endsBeforeMs, SUBSCRIPTION);
  for (const { providerId, activeUntilMs, mark } of found) {
    if (signal?.aborted) return;
    const notice = subscriptionNotice(activeUntilMs, days, nowMs);
    if (notice === null || notice.mark === mark) continue;
    await give(core, providerId, SUBSCRIPTION, notice, nowMs);
    await nextTurn();
  }
}

/**
 * Tells the operator that the served certificate ends, or that the disk of the data is low;
 * `certificateExpiresAtMs` null: plain HTTP.
 */
export async function noticeAppliance(
  core: Core,
  certificateExpiresAtMs: number | null,
  nowMs: number,
): Promise<void> {
  const expiry =
    certificateExpiresAtMs === null ? null : certificateNotice(certificateExpiresAtMs, nowMs);
  if (expiry !== null) await give(core, null, 'certificate', expiry, nowMs);
  const { diskFreeBytes } = await core.store.readStorageFacts();
  const low = diskFreeBytes === null ? null : diskNotice(diskFreeBytes, nowMs);
  if (low !== null) await give(core, null, 'disk', low, nowMs);
}

async function give(
  core: Core,
  providerId: number | null,
  subject: string,
  { mark, happening }: Notice,
  atMs: number,
): Promise<void> {
  await core.store.addNotice({ providerId, atMs, ...happening }, subject, mark);
}

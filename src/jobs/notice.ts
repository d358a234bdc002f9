/**
 * Events that the clock causes. Each state causes one event, also with several processes and after
 * a restart; a check without a new state writes nothing.
 */

import { VERSION } from '../base/version.ts';
import { DAY_MS, utcDay } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import {
  backupNotice,
  certificateNotice,
  diskNotice,
  type Notice,
  releaseNotice,
  subscriptionNotice,
} from '../core/event/notice.ts';
import { nextTurn } from '../core/turn.ts';
import { upkeepOf } from '../core/upkeep.ts';

export interface NoticeSettings {
  /** Days before the end of a subscription at which its provider gets an event. */
  readonly webhookEndingDays: readonly number[];
}

const SUBSCRIPTION = 'subscription';

/** Adds events of providers whose subscription ends soon or has ended. */
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
    await addNotice(core, providerId, SUBSCRIPTION, notice, nowMs);
    await nextTurn();
  }
}

/** Adds events with the number of copied HWIDs that were not told one by one on days before. */
export async function noticeCopied({ store }: Core, nowMs: number): Promise<void> {
  while (await store.endCopied(utcDay(nowMs), nowMs)) await nextTurn();
}

/**
 * Adds events of the operator: the served certificate ends soon, the disk of the data is nearly
 * full, or upkeep fails. `certificateExpiresAtMs` is null for plain HTTP.
 */
export async function noticeAppliance(
  core: Core,
  certificateExpiresAtMs: number | null,
  nowMs: number,
): Promise<void> {
  const expiry =
    certificateExpiresAtMs === null ? null : certificateNotice(certificateExpiresAtMs, nowMs);
  if (expiry !== null) await addNotice(core, null, 'certificate', expiry, nowMs);
  const { diskFreeBytes } = await core.store.readStorageFacts();
  const low = diskFreeBytes === null ? null : diskNotice(diskFreeBytes, nowMs);
  if (low !== null) await addNotice(core, null, 'disk', low, nowMs);
  await noticeUpkeep(core, nowMs);
}

/** Adds events of the operator about upkeep. */
export async function noticeUpkeep(core: Core, nowMs: number, installed = VERSION): Promise<void> {
  const rows = await core.store.listUpkeep();
  for (const task of ['backup', 'copy'] as const) {
    const row = upkeepOf(rows, task);
    const notice = row && backupNotice(row);
    if (notice) await addNotice(core, null, task, notice, nowMs);
  }
  const newer = releaseNotice(rows, installed);
  if (newer !== null) await addNotice(core, null, 'release', newer, nowMs);
}

async function addNotice(
  core: Core,
  providerId: number | null,
  subject: string,
  { mark, follows, happening }: Notice,
  atMs: number,
): Promise<void> {
  await core.store.addNotice({ providerId, atMs, ...happening }, subject, mark, follows);
}

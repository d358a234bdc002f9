/**
 * Housekeeping, in small steps: what nobody fetched expires, what is old of ledger and audit log is
 * pruned, and devices that belong to nobody are forgotten. Each is left between two steps when its
 * signal says so; the next ring goes on.
 */

import { auditHead, headText } from '../core/audit/chain.ts';
import { actAt } from '../core/audit/entry.ts';
import { pruneAudit } from '../core/audit/prune.ts';
import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import { FIGURE_DAYS, lastDays } from '../core/figures.ts';
import type { EventCursor } from '../core/port/event.ts';
import type { FinishedCursor, StrangerCursor } from '../core/port/keeping.ts';
import { nextTurn } from '../core/turn.ts';
import type { Log } from '../log.ts';

/** Marks the recipients expired whose message nobody fetched in time. */
export async function expireMessages(
  core: Core,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await repeat(async () => (await core.store.expireRecipients(nowMs)) !== null, signal);
}

/** Ends distributions that wait for gateways alone, and in vain. */
export async function endHandedOver(
  core: Core,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await repeat(() => core.store.endHandedOver(nowMs), signal);
}

/** Forgets push services for which nothing waits. */
export async function forgetDestinations(core: Core, signal?: AbortSignal): Promise<void> {
  await repeat(() => core.store.forgetDestinations(), signal);
}

/** Days for which things are remembered that are over. */
export interface KeepDays {
  readonly ledgerDays: number;
  readonly distributionDays: number;
  readonly deviceDays: number;
}

/**
 * Deletes the ledger of what finished more than `ledgerDays` days ago, and what it said; after
 * `distributionDays` the rest of it.
 */
export async function pruneDistributions(
  core: Core,
  { ledgerDays, distributionDays }: KeepDays,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const finishedBeforeMs = nowMs - ledgerDays * DAY_MS;
  let at: FinishedCursor | null = null;
  await repeat(async () => {
    at = await core.store.pruneLedger(finishedBeforeMs, nowMs, at);
    return at !== null;
  }, signal);
  const forgetBeforeMs = nowMs - Math.max(ledgerDays, distributionDays) * DAY_MS;
  await repeat(() => core.store.forgetDistributions(forgetBeforeMs), signal);
}

/** Deletes what devices said where they do not belong and were not seen for `deviceDays` days. */
export async function forgetVisits(
  core: Core,
  { deviceDays }: KeepDays,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await repeat(() => core.store.forgetVisits(nowMs - deviceDays * DAY_MS), signal);
}

/** Days for which the story of a link tells of a slot that ended. */
const STORY_DAYS = 90;

/** Deletes the ends of slots from the stories of links that are older than {@link STORY_DAYS}. */
export async function forgetStories(
  core: Core,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await repeat(() => core.store.forgetSlotEnds(nowMs - STORY_DAYS * DAY_MS), signal);
}

/** Deletes figures of the days before the last {@link FIGURE_DAYS}. */
export async function forgetFigures(
  core: Core,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const { fromDay } = lastDays(FIGURE_DAYS, nowMs);
  await repeat(() => core.store.forgetFigures(fromDay), signal);
}

/** Bounds of the devices that belong to nobody and are remembered. */
export interface StrangerBounds extends Pick<KeepDays, 'deviceDays'> {
  readonly strangersMax: number;
}

/**
 * Forgets strangers not seen for `deviceDays` days or more than `strangersMax`. Of too many those
 * that hold a token go last: tokens are counted by address, while a provider can put any number of
 * HWIDs on a link and take them off again.
 */
export async function forgetStrangers(
  core: Core,
  { deviceDays, strangersMax: countMax }: StrangerBounds,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { seenBeforeMs: nowMs - deviceDays * DAY_MS, countMax };
  let at: StrangerCursor | null = null;
  await repeat(async () => {
    at = await core.store.forgetStrangers(bounds, at);
    return at !== null;
  }, signal);
}

/** Days for which events are kept. */
export interface EventDays {
  readonly webhookKeepDays: number;
}

/** Events of one owner that are kept at most though nothing waits for them. */
const EVENTS_MAX = 100_000;

/**
 * Deletes events that are older than `webhookKeepDays` days or more than {@link EVENTS_MAX}, and
 * secrets of webhooks that sign no longer.
 */
export async function forgetEvents(
  core: Core,
  { webhookKeepDays }: EventDays,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { beforeMs: nowMs - webhookKeepDays * DAY_MS, countMax: EVENTS_MAX };
  let at: EventCursor | null = null;
  await repeat(async () => {
    at = await core.store.forgetEvents(bounds, at);
    return at !== null;
  }, signal);
  await repeat(() => core.store.forgetOldSecrets(nowMs), signal);
}

/** Takes small steps while there are any, everybody else's turn in between, until `signal`. */
async function repeat(step: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await step())) await nextTurn();
}

/** Bounds of the audit log. */
export interface AuditBounds {
  readonly auditDays: number;
  readonly auditEntriesMax: number;
}

/** Deletes what is older than `auditDays` days or more than `auditEntriesMax` entries. */
export async function keepAuditBounded(
  core: Core,
  { auditDays, auditEntriesMax: entriesMax }: AuditBounds,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { beforeMs: nowMs - auditDays * DAY_MS, entriesMax };
  await pruneAudit(core, bounds, actAt(core, nowMs), signal);
}

/** Tells the log where the chain ends: wherever the log goes, the chain can be held against it. */
export async function logAuditHead(core: Core, log: Log): Promise<void> {
  const head = await auditHead(core);
  if (head !== null) log.info('audit_head', { head: headText(head) });
}

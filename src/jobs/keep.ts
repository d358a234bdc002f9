/**
 * Housekeeping: expires messages, and prunes whatever is older than its setting. `ageMs` is the
 * time by which something is old, 0 while that is suspended: core/timekeeper.ts. Every function
 * works in small steps with a turn of the event loop between two, and returns early when `signal`
 * is aborted; the next run of its job continues.
 */

import type { Log } from '../base/log.ts';
import { auditHead, headText } from '../core/audit/chain.ts';
import { actAt } from '../core/audit/entry.ts';
import { pruneAudit } from '../core/audit/prune.ts';
import { DAY_MS, utcDay } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import { CUT_DAYS } from '../core/cut-off.ts';
import { FIGURE_DAYS, lastDays } from '../core/figures.ts';
import { ANSWER_KEPT_MS } from '../core/idempotency.ts';
import { TIE_DAYS } from '../core/link-tie.ts';
import { ENDED_TOKEN_MS } from '../core/message/ended.ts';
import { PHONE_KEPT_MS } from '../core/phones.ts';
import type { EventCursor } from '../core/port/event.ts';
import type { FinishedCursor, ModelCursor, StrangerCursor } from '../core/port/keeping.ts';
import { FIGURES_KEPT_MS } from '../core/subscription-figures.ts';
import { nextTurn } from '../core/turn.ts';

/** Settings that bound what is kept, in days or entries. */
export interface KeepSettings {
  readonly ledgerDays: number;
  readonly distributionDays: number;
  readonly deviceDays: number;
  readonly strangersMax: number;
  readonly webhookKeepDays: number;
  readonly auditDays: number;
  readonly auditEntriesMax: number;
}

/** Days for which the history of a link keeps the end of a slot. */
const STORY_DAYS = 90;
/** Days after which a ride that ended has no effect: the longest `ride.hours`. */
const RIDE_DAYS = 30;
/** Days for which a sighting is kept after the last one. */
const SIGHTING_DAYS = 90;
/** Days for which users of a panel that is not followed any more are kept. */
const FOLLOW_DAYS = 30;
/** Days after which the ledger of reminders forgets what it sent in a period that is over. */
const REMINDED_DAYS = 30;
/** Days for which jobs of the console that ended are listed. */
const JOB_DAYS = 7;
/** Days for which the code and the key of an ended link cannot make a link again. */
const TOMBSTONE_DAYS = 365;
/** Events of one owner that are kept although no webhook waits for them. */
const EVENTS_MAX = 100_000;

/** Marks messages as expired that their devices did not fetch in time. */
export const expireMessages = (core: Core, ageMs: number, signal?: AbortSignal): Promise<void> =>
  repeat(async () => (await core.store.expireRecipients(ageMs)) !== null, signal);

/** Ends distributions that wait for nothing but gateways, and have expired. */
export const endHandedOver = (core: Core, ageMs: number, signal?: AbortSignal): Promise<void> =>
  repeat(() => core.store.endHandedOver(ageMs), signal);

/**
 * Prunes what is kept for days: ledgers, distributions, visits, stories, figures, destinations,
 * answers to calls that may be repeated.
 */
export async function prune(
  core: Core,
  settings: Pick<KeepSettings, 'ledgerDays' | 'distributionDays' | 'deviceDays'>,
  ageMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await pruneDistributions(core, settings, ageMs, signal);
  await repeat(() => core.store.forgetVisits(ageMs - settings.deviceDays * DAY_MS), signal);
  await repeat(() => core.store.forgetSlotEnds(ageMs - STORY_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetEndedTokens(ageMs - ENDED_TOKEN_MS), signal);
  await repeat(() => core.store.forgetRefused(ageMs - STORY_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetPhones(ageMs - PHONE_KEPT_MS), signal);
  await repeat(() => core.store.forgetSightings(ageMs - SIGHTING_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetFollows(ageMs - FOLLOW_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetRides(ageMs - RIDE_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetTombstones(ageMs - TOMBSTONE_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetCuts(ageMs - CUT_DAYS * DAY_MS, ageMs), signal);
  await repeat(() => core.store.forgetTies(ageMs - TIE_DAYS * DAY_MS), signal);
  const { fromDay } = lastDays(FIGURE_DAYS, ageMs);
  await repeat(() => core.store.forgetFigures(fromDay), signal);
  await repeat(() => core.store.forgetBotFetches(utcDay(ageMs)), signal);
  await repeat(() => core.store.forgetSubscriptionFigures(ageMs - FIGURES_KEPT_MS), signal);
  await repeat(() => core.store.forgetReminded(ageMs - REMINDED_DAYS * DAY_MS), signal);
  await repeat(() => core.store.forgetDestinations(), signal);
  await repeat(() => core.store.forgetMade(ageMs - ANSWER_KEPT_MS), signal);
  await repeat(() => core.store.forgetJobs(ageMs - JOB_DAYS * DAY_MS), signal);
}

/** Deletes ledger and content `ledgerDays` after the end, and the rest after `distributionDays`. */
async function pruneDistributions(
  core: Core,
  { ledgerDays, distributionDays }: Pick<KeepSettings, 'ledgerDays' | 'distributionDays'>,
  ageMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const finishedBeforeMs = ageMs - ledgerDays * DAY_MS;
  await repeatFrom<FinishedCursor>(
    (at) => core.store.pruneLedger(finishedBeforeMs, ageMs, at),
    signal,
  );
  const forgetBeforeMs = ageMs - Math.max(ledgerDays, distributionDays) * DAY_MS;
  await repeat(() => core.store.forgetDistributions(forgetBeforeMs), signal);
}

/**
 * Deletes devices on no link that were not seen for `deviceDays` days or exceed `strangersMax`. Of
 * those in excess, devices with a token go last: tokens are bounded by address, but a provider can
 * attach any number of HWIDs to a link and remove them again.
 */
export async function forgetStrangers(
  core: Core,
  { deviceDays, strangersMax: countMax }: Pick<KeepSettings, 'deviceDays' | 'strangersMax'>,
  ageMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { seenBeforeMs: ageMs - deviceDays * DAY_MS, countMax };
  await repeatFrom<StrangerCursor>((at) => core.store.forgetStrangers(bounds, at), signal);
}

/** Deletes old and excess events, and secrets of webhooks that expired after a rotation. */
export async function forgetEvents(
  core: Core,
  { webhookKeepDays }: Pick<KeepSettings, 'webhookKeepDays'>,
  ageMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = { beforeMs: ageMs - webhookKeepDays * DAY_MS, countMax: EVENTS_MAX };
  await repeatFrom<EventCursor>((at) => core.store.forgetEvents(bounds, at), signal);
  await repeat(() => core.store.forgetOldSecrets(ageMs), signal);
}

/** Deletes what `privacy.keep = "less"` does not keep, imported facts too. */
export async function forgetPrivate(core: Core, signal?: AbortSignal): Promise<void> {
  if (core.limits.privacyKeep !== 'less') return;
  await repeat(() => core.store.forgetPhones(Number.MAX_SAFE_INTEGER), signal);
  await repeat(() => core.store.forgetBarredPhones(), signal);
  await repeat(() => core.store.forgetSubscriptionFigures(Number.MAX_SAFE_INTEGER), signal);
  await repeatFrom<ModelCursor>((at) => core.store.forgetModels(at), signal);
}

/** Deletes ended sessions of the console, and expired links for one use. */
export async function forgetSessions(
  core: Core,
  ageMs: number,
  signal?: AbortSignal,
): Promise<void> {
  await repeat(() => core.store.forgetSessions(ageMs), signal);
}

/**
 * Adds the entries of folded deeds to the audit log, and deletes entries that are older than
 * `auditDays` or exceed the maximum.
 */
export async function keepAuditBounded(
  core: Core,
  { auditDays, auditEntriesMax }: Pick<KeepSettings, 'auditDays' | 'auditEntriesMax'>,
  ageMs: number,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  // An entry of the future would end the proof: src/core/audit/verify.ts.
  const atMs = core.leastMs(nowMs);
  await repeat(() => core.store.endFolds(atMs, auditEntriesMax), signal);
  const bounds = { beforeMs: ageMs - auditDays * DAY_MS, entriesMax: auditEntriesMax };
  await pruneAudit(core, bounds, actAt(core, atMs), signal);
}

/** Logs the head of the audit chain: a copy of the log elsewhere proves the chain. */
export async function logAuditHead(core: Core, log: Log): Promise<void> {
  const head = await auditHead(core);
  if (head !== null) log.info('audit_head', { head: headText(head) });
}

/** Repeats a step until it returns false. */
async function repeat(step: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await step())) await nextTurn();
}

/** Repeats a step from the cursor that it returned last, until that is null. */
async function repeatFrom<Cursor>(
  step: (at: Cursor | null) => Promise<Cursor | null>,
  signal?: AbortSignal,
): Promise<void> {
  let at: Cursor | null = null;
  await repeat(async () => {
    at = await step(at);
    return at !== null;
  }, signal);
}

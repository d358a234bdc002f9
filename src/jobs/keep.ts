/**
 * Housekeeping, in small steps: what nobody fetched expires, what is old of ledger and audit log is
 * pruned. Each is left between two steps when its signal says so; the next ring goes on.
 */

import { actAt } from '../core/audit.ts';
import { auditHead, headText, pruneAudit } from '../core/audit-chain.ts';
import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
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

/** Deletes the ledger of what finished more than `ledgerDays` days ago. */
export async function pruneLedger(
  core: Core,
  ledgerDays: number,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const finishedBeforeMs = nowMs - ledgerDays * DAY_MS;
  await repeat(() => core.store.pruneLedger(finishedBeforeMs, nowMs), signal);
}

/** Takes small steps while there are any, everybody else's turn in between, until `signal`. */
async function repeat(step: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await step())) await nextTurn();
}

/** What of the audit log is kept. */
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

/**
 * Housekeeping, in small steps: what nobody fetched expires, what is old of ledger and audit log is
 * pruned.
 */

import { actAt } from '../core/audit.ts';
import { auditHead, headText, pruneAudit } from '../core/audit-chain.ts';
import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import { nextTurn } from '../core/turn.ts';
import type { Log } from '../log.ts';

/** Marks the recipients expired whose message nobody fetched in time. */
export async function expireMessages(core: Core, nowMs: number): Promise<void> {
  while ((await core.store.expireRecipients(nowMs)) !== null) await nextTurn();
}

/** Deletes the ledger of what finished more than `ledgerDays` days ago. */
export async function pruneLedger(core: Core, ledgerDays: number, nowMs: number): Promise<void> {
  const finishedBeforeMs = nowMs - ledgerDays * DAY_MS;
  while (await core.store.pruneLedger(finishedBeforeMs, nowMs)) await nextTurn();
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
): Promise<void> {
  await pruneAudit(core, { beforeMs: nowMs - auditDays * DAY_MS, entriesMax }, actAt(core, nowMs));
}

/** Tells the log where the chain ends: wherever the log goes, the chain can be held against it. */
export async function logAuditHead(core: Core, log: Log): Promise<void> {
  const head = await auditHead(core);
  if (head !== null) log.info('audit_head', { head: headText(head) });
}

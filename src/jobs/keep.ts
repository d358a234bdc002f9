/**
 * Housekeeping of the ledger, in small steps: what nobody fetched expires, what is old is pruned.
 */

import { DAY_MS } from '../core/calendar.ts';
import type { Core } from '../core/core.ts';
import { nextTurn } from '../core/turn.ts';

/** Marks the recipients expired whose message nobody fetched in time. */
export async function expireMessages(core: Core, nowMs: number): Promise<void> {
  while ((await core.store.expireRecipients(nowMs)) !== null) await nextTurn();
}

/** Deletes the ledger of what finished more than `ledgerDays` days ago. */
export async function pruneLedger(core: Core, ledgerDays: number, nowMs: number): Promise<void> {
  const finishedBeforeMs = nowMs - ledgerDays * DAY_MS;
  while (await core.store.pruneLedger(finishedBeforeMs, nowMs)) await nextTurn();
}

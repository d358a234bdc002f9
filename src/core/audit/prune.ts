/** Pruning: the oldest blocks of the audit log are deleted, and an entry records that. */

import type { Core } from '../core.ts';
import type { Act, AuditAnchor, AuditBlock, PruneBounds } from '../port/audit.ts';
import { nextTurn } from '../turn.ts';

/** The log at one moment. */
interface OldEnd {
  anchor: AuditAnchor;
  /** Number of the newest entry. */
  newest: number;
  /** The oldest blocks, at most as many as a step reads. */
  oldest: readonly Pick<AuditBlock, 'number' | 'atMs' | 'hash'>[];
}

/**
 * Selects the blocks that the next step deletes, and returns whether they are all. A step reads the
 * oldest `blocks` and deletes at most `entries`, but at least one block.
 */
export function blocksToPrune(
  { anchor, newest, oldest }: OldEnd,
  bounds: PruneBounds,
  step: { blocks: number; entries: number },
) {
  // One more makes room for the entry that the step adds.
  const isSurplus = newest - anchor.number > bounds.entriesMax;
  const surplusUntil = isSurplus ? newest - bounds.entriesMax + 1 : 0;
  let number = anchor.number;
  const end = oldest.findIndex((block) => {
    const isOld = number < surplusUntil || block.atMs < bounds.beforeMs;
    number = block.number;
    return !isOld;
  });
  const old = end < 0 ? oldest : oldest.slice(0, end);
  const few = old.filter((block) => block.number <= anchor.number + step.entries);
  const gone = few.length > 0 ? few : old.slice(0, 1);
  return { gone, isAll: gone.length === old.length && old.length < step.blocks };
}

/** Deletes the entries beyond the bounds in small steps, each with its own entry. */
export async function pruneAudit(
  core: Core,
  bounds: PruneBounds,
  act: Act,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await core.store.pruneAudit(bounds, act))) await nextTurn();
}

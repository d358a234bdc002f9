/** Pruning: the old end of the audit log goes, and leaves an entry about it. */

import type { Core } from '../core.ts';
import type { Act, AuditAnchor, AuditBlock, PruneBounds } from '../port/audit.ts';
import { nextTurn } from '../turn.ts';

/** The old end of the log, of one moment. */
interface OldEnd {
  anchor: AuditAnchor;
  /** Number of the newest entry. */
  newest: number;
  /** The oldest blocks, as many as a step looks at. */
  oldest: readonly Pick<AuditBlock, 'number' | 'atMs' | 'hash'>[];
}

/**
 * The blocks that the next step deletes, and whether those are all that are to go. A step looks at
 * the oldest `blocks`, and takes no more than `entries` but for one block that alone holds more.
 */
export function blocksToPrune(
  { anchor, newest, oldest }: OldEnd,
  bounds: PruneBounds,
  step: { blocks: number; entries: number },
) {
  // With one to spare for the entry that the step leaves.
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

/** Deletes what is beyond the bounds in small steps, each with an entry of its own. */
export async function pruneAudit(
  core: Core,
  bounds: PruneBounds,
  act: Act,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await core.store.pruneAudit(bounds, act))) await nextTurn();
}

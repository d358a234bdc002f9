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
 * oldest `blocks` and deletes at most `entries`, but at least one block. A block of a time after
 * `nowMs` is from a clock that was ahead: it is as old as an old one behind it, and never the last
 * that goes, because its time would prove no age.
 */
export function blocksToPrune(
  { anchor, newest, oldest }: OldEnd,
  bounds: PruneBounds,
  step: { blocks: number; entries: number },
  nowMs: number,
) {
  // One more makes room for the entry that the step adds.
  const isSurplus = newest - anchor.number > bounds.entriesMax;
  const surplusUntil = isSurplus ? newest - bounds.entriesMax + 1 : 0;
  const { number: before } = anchor;
  const isOld = ({ atMs }: OldEnd['oldest'][number], at: number) =>
    (oldest[at - 1]?.number ?? before) < surplusUntil || atMs < bounds.beforeMs;
  const end = oldest.findIndex((block, at) => block.atMs <= nowMs && !isOld(block, at));
  const passed = end < 0 ? oldest : oldest.slice(0, end);
  const old = passed.slice(0, passed.findLastIndex(isOld) + 1);
  const most = before + step.entries;
  const lastAt = old.findLastIndex((block, at) => block.number <= most && isOld(block, at));
  const gone = old.slice(0, (lastAt < 0 ? old.findIndex(isOld) : lastAt) + 1);
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

/**
 * The check that the audit log is as the program wrote it: the chain, its beginning, and heads that
 * were noted elsewhere. docs/audit.md says what this proves and what nothing can prove.
 */

import { DAY_MS } from '../calendar.ts';
import type { AuditAnchor, AuditBlock } from '../port/audit.ts';
import {
  type AuditSource,
  auditBlocks,
  entriesOf,
  hashOfBlock,
  headText,
  hex,
  NO_ANCHOR,
  type NumberedEntry,
} from './chain.ts';
import { type AuditEntry, SYSTEM } from './entry.ts';

/** A chain that holds, or where it is broken. */
export interface AuditVerdict {
  /** Entries of the chain as far as it was checked. */
  count: number;
  /** Number of older ones that were pruned. */
  prunedCount: number;
  /** Times of the first and the last entry that are there. */
  from: string | null;
  to: string | null;
  /** The newest point, to note elsewhere; null: there is no entry. */
  head: string | null;
  /** The fault, with the row where it begins; null: there is none. */
  problem: string | null;
}

/** The facts that a log is held against. */
export interface AuditMeasure {
  /** Heads that were noted earlier. */
  expected: readonly string[];
  /** The bounds of the settings: pruning deletes nothing that they keep. */
  auditDays: number;
  auditEntriesMax: number;
  nowMs: number;
}

type Point = Pick<AuditBlock, 'number' | 'hash'>;

/**
 * Recomputes the chain from its old end to its new one. Without a head that was noted, a chain
 * whose newest end was cut off, or that was written anew, cannot be told from a good one.
 */
export async function verifyAudit(core: AuditSource, measure: AuditMeasure): Promise<AuditVerdict> {
  let { anchor } = await core.store.readAudit(0, 1);
  let before: Point = anchor;
  let pruning: NumberedEntry | null = null;
  const missing = new Set(measure.expected);
  const verdict: AuditVerdict = {
    count: 0,
    prunedCount: anchor.number,
    from: null,
    to: null,
    head: null,
    problem: null,
  };
  for await (const { anchor: current, block } of auditBlocks(core)) {
    anchor = current;
    // Pruned meanwhile, past the last block that was checked: the rest begins at the anchor.
    if (anchor.number > before.number) before = anchor;
    const entries = readEntries(block);
    const problem = blockProblem(block, entries, before);
    if (problem !== null) return { ...verdict, problem };
    for (const entry of entries.filter(({ action }) => action === 'audit.prune')) {
      const fault = pruningProblem(entry, pruning, before.number, measure);
      if (fault !== null) return { ...verdict, problem: `row ${block.number} ${fault}` };
      pruning = entry;
    }
    verdict.count += entries.length;
    verdict.from ??= entries[0]?.at ?? null;
    verdict.to = entries.at(-1)?.at ?? null;
    verdict.head = headText(block);
    missing.delete(verdict.head);
    before = block;
  }
  verdict.prunedCount = anchor.number;
  const problem = anchorProblem(anchor, pruning) ?? missingProblem([...missing], anchor, measure);
  return { ...verdict, problem };
}

/** None if they are not what a block may hold. */
function readEntries(block: AuditBlock): NumberedEntry[] {
  try {
    return entriesOf(block);
  } catch {
    return [];
  }
}

function blockProblem(
  block: AuditBlock,
  entries: readonly NumberedEntry[],
  before: Point,
): string | null {
  const row = `row ${block.number}`;
  if (hex(hashOfBlock(block)) !== hex(block.hash)) return `${row} was changed: its hash is another`;
  if (hex(block.prevHash) !== hex(before.hash)) {
    return `${row} does not follow row ${before.number}: rows between them are missing or others`;
  }
  if (entries.length === 0 || block.number !== before.number + entries.length) {
    return `${row} does not hold the entries from ${before.number + 1} to ${block.number}`;
  }
  if (block.atMs !== Date.parse(entries.at(-1)?.at ?? '')) {
    return `${row} was changed: its time is not that of its last entry`;
  }
  return null;
}

/** More entries than any commit has: a block is pruned whole, though some of it could stay. */
const BLOCK_ENTRIES_MAX = 10_000;

/**
 * The reason that the program did not write this entry about pruning, which follows row `newest`:
 * one of its own goes on from the entry before, and tells of nothing that the settings keep.
 */
function pruningProblem(
  entry: NumberedEntry,
  earlier: NumberedEntry | null,
  newest: number,
  { auditDays, auditEntriesMax, nowMs }: AuditMeasure,
): string | null {
  if (!isByProgram(entry)) return 'tells of a pruning that the program did not do';
  const { entries, through, until } = entry.object;
  const count = Number(entries);
  const last = Number(through);
  const from = last - count;
  const goesOn = earlier === null ? from >= 0 : from === earlier.object['through'];
  if (!goesOn || !(count > 0) || !(last < entry.number)) {
    return 'tells of a pruning that does not fit the one before';
  }
  const atMs = Date.parse(entry.at);
  if (!(atMs <= nowMs + DAY_MS)) return `tells of a pruning in the future, at ${entry.at}`;
  const isOld = Date.parse(String(until)) < atMs - auditDays * DAY_MS;
  const isSurplus =
    newest - from > auditEntriesMax && newest - last >= auditEntriesMax - BLOCK_ENTRIES_MAX;
  if (isOld || isSurplus) return null;
  return `tells that entries up to ${last}, of ${until}, were pruned at ${entry.at}: the settings keep them, so unless those were others then, somebody deleted them`;
}

function isByProgram({ who, name, from }: AuditEntry): boolean {
  return who === SYSTEM.kind && name === SYSTEM.name && from === SYSTEM.from;
}

/** The anchor says what the newest entry about pruning says, and is there only with one. */
function anchorProblem(anchor: AuditAnchor, pruning: NumberedEntry | null): string | null {
  const facts = pruning?.object;
  const isSame =
    (facts?.['through'] ?? 0) === anchor.number &&
    (facts?.['hash'] ?? hex(NO_ANCHOR.hash)) === hex(anchor.hash) &&
    (facts?.['until'] ?? null) ===
      (anchor.untilMs === null ? null : new Date(anchor.untilMs).toISOString());
  return isSame ? null : `row ${anchor.number} and those before it were not deleted by pruning`;
}

/** The first noted head that is not in the chain; one at its very beginning was pruned, too. */
function missingProblem(
  missing: readonly string[],
  anchor: AuditAnchor,
  { auditDays, auditEntriesMax }: AuditMeasure,
): string | null {
  const numbers = missing.map((head) => Number.parseInt(head, 10));
  const gone = missing.find((_, at) => (numbers[at] ?? 0) > anchor.number);
  if (gone !== undefined) {
    return `the chain does not contain ${gone}: it was cut off before that or written anew`;
  }
  const [pruned] = missing;
  if (pruned === undefined) return null;
  return `${pruned} was pruned and cannot be shown any more: take one that is younger. If it is younger than ${auditDays} days, and there were never more than ${auditEntriesMax} entries, somebody deleted it`;
}

/**
 * Verifies that the audit log is unchanged: its chain, its anchor, and heads that were noted
 * elsewhere. docs/audit.md explains what this proves.
 */

import { DAY_MS } from '../calendar.ts';
import { counted } from '../counted.ts';
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

/** The result of a verification. */
export interface AuditVerdict {
  /** Entries that were verified. */
  count: number;
  /** Entries that were pruned. */
  prunedCount: number;
  /** Times of the first and the last of them. */
  from: string | null;
  to: string | null;
  /** The head of the chain; null: there is no entry. */
  head: string | null;
  /** The first fault with its block; null: there is none. */
  problem: string | null;
}

/** The facts with which a log must agree. */
export interface AuditMeasure {
  /** Heads that the chain must contain. */
  expected: readonly string[];
  /** The settings of pruning. */
  auditDays: number;
  auditEntriesMax: number;
  nowMs: number;
}

type Point = Pick<AuditBlock, 'number' | 'hash'>;

/**
 * Recomputes the chain from its oldest to its newest block. Without an expected head it cannot
 * detect a chain that lacks its newest blocks or was rewritten.
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
    // Pruning has passed the last verified block since: the rest begins at the anchor.
    if (anchor.number > before.number) before = anchor;
    const entries = readEntries(block);
    const problem = blockProblem(block, entries, before);
    if (problem !== null) return { ...verdict, problem };
    for (const entry of entries.filter(({ action }) => action === 'audit.prune')) {
      const fault = pruningProblem(entry, pruning, before.number, measure);
      if (fault !== null) return { ...verdict, problem: `block ${block.number} ${fault}` };
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

/** Returns no entries for a block that does not hold entries. */
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
  const name = `block ${block.number}`;
  if (hex(hashOfBlock(block)) !== hex(block.hash)) return `${name} was changed: its hash differs`;
  if (hex(block.prevHash) !== hex(before.hash)) {
    return `${name} does not follow block ${before.number}: blocks between them are missing or forged`;
  }
  if (entries.length === 0 || block.number !== before.number + entries.length) {
    return `${name} does not hold the entries from ${before.number + 1} to ${block.number}`;
  }
  if (block.atMs !== Date.parse(entries.at(-1)?.at ?? '')) {
    return `${name} was changed: its time is not that of its last entry`;
  }
  return null;
}

/** More entries than any block has: pruning deletes whole blocks. */
const BLOCK_ENTRIES_MAX = 10_000;

/**
 * Returns why an entry about pruning, which follows block `newest`, is forged; null: it is valid. A
 * valid one continues from the earlier one and deletes nothing that the settings keep.
 */
function pruningProblem(
  entry: NumberedEntry,
  earlier: NumberedEntry | null,
  newest: number,
  { auditDays, auditEntriesMax, nowMs }: AuditMeasure,
): string | null {
  if (!isByProgram(entry)) return 'records a pruning that the program did not do';
  const { entries, through, until } = entry.object;
  const count = Number(entries);
  const last = Number(through);
  const from = last - count;
  const continues = earlier === null ? from >= 0 : from === earlier.object['through'];
  if (!continues || !(count > 0) || !(last < entry.number)) {
    return 'records a pruning that does not continue from the earlier one';
  }
  const atMs = Date.parse(entry.at);
  if (!(atMs <= nowMs + DAY_MS)) return `records a pruning in the future, at ${entry.at}`;
  const isOld = Date.parse(String(until)) < atMs - auditDays * DAY_MS;
  const isSurplus =
    newest - from > auditEntriesMax && newest - last >= auditEntriesMax - BLOCK_ENTRIES_MAX;
  if (isOld || isSurplus) return null;
  return `records that entries up to ${last}, of ${until}, were pruned at ${entry.at}, although the settings keep them: unless the settings differed then, a person deleted them`;
}

function isByProgram({ who, name, from }: AuditEntry): boolean {
  return who === SYSTEM.kind && name === SYSTEM.name && from === SYSTEM.from;
}

/** Returns a problem unless the anchor agrees with the newest entry about pruning. */
function anchorProblem(anchor: AuditAnchor, pruning: NumberedEntry | null): string | null {
  const facts = pruning?.object;
  const isSame =
    (facts?.['through'] ?? 0) === anchor.number &&
    (facts?.['hash'] ?? hex(NO_ANCHOR.hash)) === hex(anchor.hash) &&
    (facts?.['until'] ?? null) ===
      (anchor.untilMs === null ? null : new Date(anchor.untilMs).toISOString());
  return isSame ? null : `block ${anchor.number} and those before it were not deleted by pruning`;
}

/** Returns a problem with the first expected head that the chain lacks or that was pruned. */
function missingProblem(
  missing: readonly string[],
  anchor: AuditAnchor,
  { auditDays, auditEntriesMax }: AuditMeasure,
): string | null {
  const numbers = missing.map((head) => Number.parseInt(head, 10));
  const gone = missing.find((_, at) => (numbers[at] ?? 0) > anchor.number);
  if (gone !== undefined) {
    return `the chain does not contain ${gone}: it was cut off before it or rewritten`;
  }
  const [pruned] = missing;
  if (pruned === undefined) return null;
  return `${pruned} was pruned and cannot be verified any more: use a newer head. If it is younger than ${counted(auditDays, 'day')}, and there were never more than ${auditEntriesMax} entries, a person deleted it`;
}

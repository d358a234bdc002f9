/**
 * The chain of the audit log: the entries of one commit are a link, and each link's hash covers the
 * hash of the link before it. The formula is in docs/audit.md, for strangers to compute.
 */

import { type Act, type AuditEntry, providerOf } from './audit.ts';
import type { Core } from './core.ts';
import { hashKey } from './secret.ts';
import { nextTurn } from './turn.ts';

/** The entries of one commit. */
export interface AuditLink {
  /** Number of its last entry; entries are numbered from 1 on without a gap. */
  number: number;
  /** Time of its last entry. */
  atMs: number;
  /** Hash of the link before; zeros for the first. */
  prevHash: Uint8Array;
  /** SHA-256 of {@link bodyOf}. */
  hash: Uint8Array;
  /** JSON array of entries. */
  entries: string;
}

/** What is left of the links that were pruned: the last of them. */
export interface AuditAnchor {
  /** How many entries were pruned in all: the number of the last of them. */
  number: number;
  hash: Uint8Array;
  /** Time of the last of them; null: nothing was pruned. */
  untilMs: number | null;
}

export const NO_ANCHOR: AuditAnchor = { number: 0, hash: new Uint8Array(32), untilMs: null };

/** How many links are read at a time: each may hold some hundred kilobytes. */
const PAGE = 64;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** What a link's hash is computed of. */
export function bodyOf({ prevHash, number, entries }: Omit<AuditLink, 'hash' | 'atMs'>): string {
  return `{"prev":"${hex(prevHash)}","last":${number},"entries":${entries}}`;
}

/** SHA-256 of a link's body. */
export function hashOfLink(link: Omit<AuditLink, 'hash' | 'atMs'>): Uint8Array {
  return hashKey(bodyOf(link));
}

/** A link as a line of an export: its body, with its hash in front. */
export function exportLine(link: AuditLink): string {
  return `{"hash":"${hex(link.hash)}",${bodyOf(link).slice(1)}`;
}

/** A point of the chain to note elsewhere: `NUMBER:HASH`. */
export function headText({ number, hash }: Pick<AuditLink, 'number' | 'hash'>): string {
  return `${number}:${hex(hash)}`;
}

/** The newest link; null: nothing was noted yet. */
export async function auditHead(core: Core): Promise<AuditLink | null> {
  return (await core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1))[0] ?? null;
}

/** The links, oldest first, with the anchor as it was when the link was read. */
export async function* auditLinks(core: Pick<Core, 'store'>) {
  for (let after = 0; ; ) {
    const { anchor, links } = await core.store.readAudit(after, PAGE);
    yield* links.map((link) => ({ anchor, link }));
    const last = links.at(-1);
    if (last === undefined) return;
    after = last.number;
    await nextTurn();
  }
}

export interface AuditFilter {
  /** Entries by this provider, or about what is its own. */
  provider: string | null;
  action: string | null;
  /** SHA-256 of a HWID, as entries have it. */
  hwidHash: string | null;
  sinceMs: number | null;
  /** The first instant that is too late. */
  untilMs: number | null;
  countMax: number;
}

export type NumberedEntry = AuditEntry & { number: number };

/** The entries of a link with their numbers. Throws SyntaxError if they are not JSON. */
function entriesOf({ number, entries }: AuditLink): NumberedEntry[] {
  const list = JSON.parse(entries) as AuditEntry[];
  return list.map((entry, i) => ({ number: number - list.length + 1 + i, ...entry }));
}

/** Entries that fit, newest first. */
export async function listAudit(core: Core, filter: AuditFilter): Promise<NumberedEntry[]> {
  const found: NumberedEntry[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const links = await core.store.readAuditBack(before, PAGE);
    for (const entry of links.flatMap((link) => entriesOf(link).reverse())) {
      if (fits(entry, filter)) found.push(entry);
      if (found.length === filter.countMax) return found;
    }
    const last = links.at(-1);
    if (last === undefined) return found;
    before = last.number;
    await nextTurn();
  }
}

function fits(entry: AuditEntry, filter: AuditFilter): boolean {
  const { provider, action, hwidHash, sinceMs, untilMs } = filter;
  const atMs = Date.parse(entry.at);
  return (
    (provider === null || providerOf(entry) === provider) &&
    (action === null || entry.action === action) &&
    (hwidHash === null || entry.object['hwid_sha256'] === hwidHash) &&
    (sinceMs === null || atMs >= sinceMs) &&
    (untilMs === null || atMs < untilMs)
  );
}

/** A chain that holds, or where it is broken. */
export interface AuditVerdict {
  /** How many entries were looked at. */
  count: number;
  /** How many older ones were pruned. */
  prunedCount: number;
  /** Times of the first and the last entry that are there. */
  from: string | null;
  to: string | null;
  /** The newest point, to note elsewhere; null: there is no entry. */
  head: string | null;
  /** What is wrong, with the row where it begins; null: nothing. */
  problem: string | null;
}

/**
 * Recomputes the chain from its old end to its new one. `expected` is a head that was noted
 * earlier: without one, a chain whose newest end was cut off, or that was written anew from the
 * beginning, cannot be told from a good one.
 */
export async function verifyAudit(core: Core, expected: string | null): Promise<AuditVerdict> {
  let { anchor } = await core.store.readAudit(0, 1);
  let before: Pick<AuditLink, 'number' | 'hash'> = anchor;
  let pruned: NumberedEntry | null = null;
  let isMet = expected === null || expected === headText(before);
  const verdict: AuditVerdict = {
    count: 0,
    prunedCount: anchor.number,
    from: null,
    to: null,
    head: null,
    problem: null,
  };
  for await (const { anchor: current, link } of auditLinks(core)) {
    anchor = current;
    // Pruned meanwhile, past what was looked at: what is left begins at the anchor.
    if (anchor.number > before.number) before = anchor;
    const entries = readEntries(link);
    const problem = problemOf(link, entries, before);
    if (problem !== null) return { ...verdict, problem };
    verdict.count += entries.length;
    verdict.from ??= entries[0]?.at ?? null;
    verdict.to = entries.at(-1)?.at ?? null;
    verdict.head = headText(link);
    isMet ||= expected === verdict.head;
    pruned = entries.findLast(({ action }) => action === 'audit.prune') ?? pruned;
    before = link;
  }
  verdict.prunedCount = anchor.number;
  const problem = anchorProblem(anchor, pruned) ?? (isMet ? null : missing(expected, anchor));
  return { ...verdict, problem };
}

/** None if they are not what a link may hold. */
function readEntries(link: AuditLink): NumberedEntry[] {
  try {
    return entriesOf(link);
  } catch {
    return [];
  }
}

function problemOf(
  link: AuditLink,
  entries: readonly NumberedEntry[],
  before: Pick<AuditLink, 'number' | 'hash'>,
): string | null {
  const row = `row ${link.number}`;
  if (hex(hashOfLink(link)) !== hex(link.hash)) return `${row} was changed: its hash is another`;
  if (hex(link.prevHash) !== hex(before.hash)) {
    return `${row} does not follow row ${before.number}: rows between them are missing or others`;
  }
  if (link.number !== before.number + entries.length) {
    return `${row} does not hold the entries from ${before.number + 1} to ${link.number}`;
  }
  if (link.atMs !== Date.parse(entries.at(-1)?.at ?? '')) {
    return `${row} was changed: its time is not that of its last entry`;
  }
  return null;
}

/** The anchor says what the newest entry about pruning says, and is there only with one. */
function anchorProblem(anchor: AuditAnchor, pruned: NumberedEntry | null): string | null {
  const said = pruned?.object;
  const isSame =
    (said?.['through'] ?? 0) === anchor.number &&
    (said?.['hash'] ?? hex(NO_ANCHOR.hash)) === hex(anchor.hash) &&
    (said?.['until'] ?? null) ===
      (anchor.untilMs === null ? null : new Date(anchor.untilMs).toISOString());
  return isSame ? null : `row ${anchor.number} and those before it were not deleted by pruning`;
}

function missing(expected: string | null, anchor: AuditAnchor): string {
  const number = Number.parseInt(expected ?? '', 10);
  return number <= anchor.number
    ? `entry ${number} was pruned since: the head ${expected} can no longer be looked for`
    : `the chain does not contain ${expected}: it was cut off before that or written anew`;
}

/**
 * Deletes entries from before `beforeMs`, and the oldest beyond `entriesMax`, in small steps, until
 * `signal`. Each step leaves an entry of its own.
 */
export async function pruneAudit(
  core: Core,
  bounds: { beforeMs: number; entriesMax: number },
  act: Act,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await core.store.pruneAudit(bounds, act))) await nextTurn();
}

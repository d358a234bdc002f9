/**
 * The chain of the audit log: the entries of one commit are a block, and each block's hash covers
 * the hash of the block before it. docs/audit.md has the formula, for strangers to compute.
 */

import type { Core } from '../core.ts';
import { isRecord } from '../json-input.ts';
import type { AuditAnchor, AuditBlock, AuditStore } from '../port/audit.ts';
import { hashKey } from '../secret.ts';
import { nextTurn } from '../turn.ts';
import { type AuditEntry, type EntryText, providerOf } from './entry.ts';

export const NO_ANCHOR: AuditAnchor = { number: 0, hash: new Uint8Array(32), untilMs: null };

/** Blocks that are read at a time: each may hold some hundred kilobytes. */
const PAGE = 64;

/** Bytes in lower-case hexadecimal digits. */
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The text that a block's hash is computed of. */
function bodyOf({ prevHash, number, entries }: Omit<AuditBlock, 'hash' | 'atMs'>): string {
  return `{"prev":"${hex(prevHash)}","last":${number},"entries":${entries}}`;
}

/** SHA-256 of a block's body. */
export function hashOfBlock(block: Omit<AuditBlock, 'hash' | 'atMs'>): Uint8Array {
  return hashKey(bodyOf(block));
}

/** The block that the entries of a commit, one at least, make behind `before`. */
export function blockAfter(
  before: Pick<AuditBlock, 'number' | 'hash'>,
  entries: readonly EntryText[],
): AuditBlock {
  const block = {
    number: before.number + entries.length,
    prevHash: before.hash,
    entries: `[${entries.map(({ text }) => text).join(',')}]`,
  };
  return { ...block, atMs: entries.at(-1)?.atMs ?? 0, hash: hashOfBlock(block) };
}

/** A block as a line of an export: its body, with its hash in front. */
export function exportLine(block: AuditBlock): string {
  return `{"hash":"${hex(block.hash)}",${bodyOf(block).slice(1)}`;
}

/** A point of the chain to note elsewhere: `NUMBER:HASH`. */
export function headText({ number, hash }: Pick<AuditBlock, 'number' | 'hash'>): string {
  return `${number}:${hex(hash)}`;
}

/** The newest block; null: nothing was noted yet. */
export async function auditHead(core: Core): Promise<AuditBlock | null> {
  return (await core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1))[0] ?? null;
}

/** Where the log is read: the product, or the database of a move. */
export interface AuditSource {
  store: Pick<AuditStore, 'readAudit'>;
}

/**
 * The blocks, oldest first, with the anchor as it was when the block was read. All rows that are
 * there, also such as the program never writes: those with numbers below 1.
 */
export async function* auditBlocks(core: AuditSource) {
  for (let after = Number.NEGATIVE_INFINITY; ; ) {
    const { anchor, blocks } = await core.store.readAudit(after, PAGE);
    yield* blocks.map((block) => ({ anchor, block }));
    const last = blocks.at(-1);
    // A forged number that JavaScript rounds would be read over and over.
    if (last === undefined || last.number <= after || !Number.isSafeInteger(last.number)) return;
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

/** The entries of a block with their numbers. Throws SyntaxError if it holds something else. */
export function entriesOf({ number, entries }: AuditBlock): NumberedEntry[] {
  const list: unknown = JSON.parse(entries);
  if (!Array.isArray(list) || !list.every(isEntry)) throw new SyntaxError('not a list of entries');
  return list.map((entry, i) => ({ number: number - list.length + 1 + i, ...entry }));
}

function isEntry(value: unknown): value is AuditEntry {
  return isRecord(value) && typeof value['at'] === 'string' && isRecord(value['object']);
}

/** Entries that fit, newest first. Throws SyntaxError at a row that holds no entries. */
export async function listAudit(core: Core, filter: AuditFilter): Promise<NumberedEntry[]> {
  const found: NumberedEntry[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const blocks = await core.store.readAuditBack(before, PAGE);
    for (const entry of blocks.flatMap((block) => entriesOf(block).reverse())) {
      if (fits(entry, filter)) found.push(entry);
      if (found.length === filter.countMax) return found;
    }
    const last = blocks.at(-1);
    if (last === undefined || !Number.isSafeInteger(last.number)) return found;
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

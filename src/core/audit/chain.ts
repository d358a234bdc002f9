/**
 * The chain of the audit log: the entries of one commit are a block, and the hash of each block
 * covers the hash of the previous one. docs/inside/audit-format.md explains how to recompute it.
 */

import type { Core } from '../core.ts';
import { isRecord } from '../json-input.ts';
import type { AuditAnchor, AuditBlock, AuditStore } from '../port/audit.ts';
import { hashKey } from '../secret.ts';
import { nextTurn } from '../turn.ts';
import { type AuditEntry, type EntryText, hasHwid, providerOf } from './entry.ts';

export const NO_ANCHOR: AuditAnchor = { number: 0, hash: new Uint8Array(32), untilMs: null };

/** Blocks to read at a time; a block may have some hundred kilobytes. */
const PAGE = 64;

/** Formats bytes as lower-case hexadecimal digits. */
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

function bodyOf({ prevHash, number, entries }: Omit<AuditBlock, 'hash' | 'atMs'>): string {
  return `{"prev":"${hex(prevHash)}","last":${number},"entries":${entries}}`;
}

/** Computes the hash of a block. */
export function hashOfBlock(block: Omit<AuditBlock, 'hash' | 'atMs'>): Uint8Array {
  return hashKey(bodyOf(block));
}

/** Makes the block after `before` of the entries of a commit, at least one. */
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

/** Formats a block as a line of an export: its body with its hash in front. */
export function exportLine(block: AuditBlock): string {
  return `{"hash":"${hex(block.hash)}",${bodyOf(block).slice(1)}`;
}

/** Formats a head of the chain as `NUMBER:HASH`. */
export function headText({ number, hash }: Pick<AuditBlock, 'number' | 'hash'>): string {
  return `${number}:${hex(hash)}`;
}

/** Reads the newest block. Returns null for an empty log. */
export async function auditHead(core: Core): Promise<AuditBlock | null> {
  return (await core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 1))[0] ?? null;
}

/** A log to read: that of the core, or of a database during a move. */
export interface AuditSource {
  store: Pick<AuditStore, 'readAudit'>;
}

/**
 * Yields all blocks, oldest first, each with the anchor of the moment at which it was read; also
 * forged ones with numbers below 1.
 */
export async function* auditBlocks(core: AuditSource) {
  for (let after = Number.NEGATIVE_INFINITY; ; ) {
    const { anchor, blocks } = await core.store.readAudit(after, PAGE);
    yield* blocks.map((block) => ({ anchor, block }));
    const last = blocks.at(-1);
    // A forged number that JavaScript rounds would never end the loop.
    if (last === undefined || last.number <= after || !Number.isSafeInteger(last.number)) return;
    after = last.number;
    await nextTurn();
  }
}

export interface AuditFilter {
  /** Entries by this provider, or about its records. */
  provider: string | null;
  action: string | null;
  /** `hwidHash` of core/secret.ts. */
  hwidHash: string | null;
  sinceMs: number | null;
  /** Entries before this time. */
  untilMs: number | null;
  countMax: number;
}

export type NumberedEntry = AuditEntry & { number: number };

/** Reads the entries of a block. Throws SyntaxError if it does not hold entries. */
export function entriesOf({ number, entries }: AuditBlock): NumberedEntry[] {
  const list: unknown = JSON.parse(entries);
  if (!Array.isArray(list) || !list.every(isEntry)) throw new SyntaxError('not a list of entries');
  return list.map((entry, i) => ({ number: number - list.length + 1 + i, ...entry }));
}

function isEntry(value: unknown): value is AuditEntry {
  return isRecord(value) && typeof value['at'] === 'string' && isRecord(value['object']);
}

/** Lists the entries that match, newest first. Throws SyntaxError as `entriesOf` does. */
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
    (hwidHash === null || hasHwid(entry, hwidHash)) &&
    (sinceMs === null || atMs >= sinceMs) &&
    (untilMs === null || atMs < untilMs)
  );
}

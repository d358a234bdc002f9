/**
 * The chain of the audit log: the entries of one commit are a link, and each link's hash covers the
 * hash of the link before it. The formula is in docs/audit.md, for strangers to compute.
 */

import type { Core } from '../core.ts';
import { isRecord } from '../json-input.ts';
import type { Act, AuditAnchor, AuditLink } from '../port/audit.ts';
import { hashKey } from '../secret.ts';
import { nextTurn } from '../turn.ts';
import { type AuditEntry, providerOf } from './entry.ts';

export const NO_ANCHOR: AuditAnchor = { number: 0, hash: new Uint8Array(32), untilMs: null };

/** How many links are read at a time: each may hold some hundred kilobytes. */
const PAGE = 64;

/** Bytes in lower-case hexadecimal digits. */
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

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

/**
 * The links, oldest first, with the anchor as it was when the link was read. All rows that are
 * there, also such as the program never writes: those with numbers below 1.
 */
export async function* auditLinks(core: Pick<Core, 'store'>) {
  for (let after = Number.NEGATIVE_INFINITY; ; ) {
    const { anchor, links } = await core.store.readAudit(after, PAGE);
    yield* links.map((link) => ({ anchor, link }));
    const last = links.at(-1);
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

/** The entries of a link with their numbers. Throws SyntaxError if it holds something else. */
export function entriesOf({ number, entries }: AuditLink): NumberedEntry[] {
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
    const links = await core.store.readAuditBack(before, PAGE);
    for (const entry of links.flatMap((link) => entriesOf(link).reverse())) {
      if (fits(entry, filter)) found.push(entry);
      if (found.length === filter.countMax) return found;
    }
    const last = links.at(-1);
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

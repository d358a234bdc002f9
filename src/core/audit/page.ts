/**
 * Pages of the audit log, or of a provider's part of it: newest first, with a bound on what is
 * read.
 */

import type { Core } from '../core.ts';
import type { Actor, AuditBlock } from '../port/audit.ts';
import { nextTurn } from '../turn.ts';
import { entriesOf, type NumberedEntry } from './chain.ts';
import { ACTIONS, type Action, hasHwid, providerOf } from './entry.ts';

/** Groups of actions, by their beginnings. */
const GROUPS = {
  links: ['install.', 'hwid.'],
  domains: ['domain.'],
  messages: ['notification.', 'command.', 'distribution.'],
  people: ['account.', 'session.', 'key.', 'bot.'],
  webhooks: ['webhook.'],
  providers: ['provider.'],
  appliance: ['device.', 'database.', 'audit.'],
} as const;

type ActionGroup = keyof typeof GROUPS;
export const ACTION_GROUPS = Object.keys(GROUPS) as [ActionGroup, ...ActionGroup[]];

export const ACTOR_KINDS = ['account', 'operator', 'provider', 'system', 'user'] as const;

/** Position of a page: entries before `entry`, in blocks before `block`. */
interface AuditPlace {
  block: number;
  entry: number;
}

interface AuditPage {
  /** The provider; null: entries of any provider and of none. */
  providerCode: string | null;
  /** The kind of actor; null: any. */
  who: Actor['kind'] | null;
  group: ActionGroup | null;
  /** The position; null: the newest entry. */
  before: AuditPlace | null;
  countMax: number;
  /** `hwidHash` of core/secret.ts; absent or null: any HWID, or none. */
  hwidHash?: string | null;
  /** The first time, included, and the last time, excluded. */
  sinceMs?: number | null;
  untilMs?: number | null;
}

/**
 * Blocks of a read, and the most reads of a page: on a busy appliance few entries belong to one
 * provider.
 */
const READ_COUNT = 32;
const READS_MAX = 32;

/** An entry with an action that this version knows. */
type KnownEntry = NumberedEntry & { action: Action };

/**
 * Lists entries, newest first, with the position of the next page; null: there is
 * none. A page may have fewer than `countMax` entries, also none, and continue. Skips damaged
 * blocks, which `gatepost audit verify` names.
 */
export async function pageAudit(
  core: Core,
  page: AuditPage,
): Promise<{ entries: KnownEntry[]; next: AuditPlace | null }> {
  const { block: beforeBlock, entry: beforeEntry } = page.before ?? NEWEST;
  const needed = [page.providerCode, page.hwidHash].filter((word) => word != null);
  const entries: KnownEntry[] = [];
  let before = beforeBlock;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const blocks = await core.store.readAuditBack(before, READ_COUNT);
    for (const block of blocks) {
      // Most blocks do not match: searching the text takes a tenth of the time of parsing it.
      if (!needed.every((word) => block.entries.includes(`"${word}"`))) continue;
      for (const entry of entriesIn(block).reverse()) {
        if (entry.number >= beforeEntry || !fits(entry, page)) continue;
        entries.push(entry);
        if (entries.length === page.countMax) {
          return { entries, next: { block: block.number + 1, entry: entry.number } };
        }
      }
    }
    const last = blocks.at(-1);
    if (last === undefined || blocks.length < READ_COUNT || !Number.isSafeInteger(last.number)) {
      return { entries, next: null };
    }
    before = last.number;
    await nextTurn();
  }
  return { entries, next: { block: before, entry: before } };
}

const NEWEST: AuditPlace = { block: Number.MAX_SAFE_INTEGER, entry: Number.MAX_SAFE_INTEGER };

function entriesIn(block: AuditBlock): NumberedEntry[] {
  try {
    return entriesOf(block);
  } catch (fault) {
    if (fault instanceof SyntaxError) return [];
    throw fault;
  }
}

function fits(entry: NumberedEntry, page: AuditPage): entry is KnownEntry {
  const { group, hwidHash = null, providerCode, sinceMs = null, untilMs = null, who } = page;
  const atMs = Date.parse(entry.at);
  return (
    (providerCode === null || providerOf(entry) === providerCode) &&
    (hwidHash === null || hasHwid(entry, hwidHash)) &&
    (sinceMs === null || atMs >= sinceMs) &&
    (untilMs === null || atMs < untilMs) &&
    (who === null || entry.who === who) &&
    entry.action in ACTIONS &&
    (group === null || GROUPS[group].some((start) => entry.action.startsWith(start)))
  );
}

/** Pages of a provider's part of the audit log: newest first, with a bound on what is read. */

import type { Core } from '../core.ts';
import type { Actor, AuditBlock } from '../port/audit.ts';
import { nextTurn } from '../turn.ts';
import { entriesOf, type NumberedEntry } from './chain.ts';
import { ACTIONS, type Action, providerOf } from './entry.ts';

/** Groups of actions, by their beginnings. */
const GROUPS = {
  links: ['install.', 'hwid.'],
  domains: ['domain.'],
  messages: ['notification.', 'command.', 'distribution.'],
  people: ['account.', 'session.', 'key.'],
  webhooks: ['webhook.'],
} as const;

export type ActionGroup = keyof typeof GROUPS;
export const ACTION_GROUPS = Object.keys(GROUPS) as [ActionGroup, ...ActionGroup[]];

export const ACTOR_KINDS = ['account', 'operator', 'provider', 'system', 'user'] as const;

/** Position of a page: entries before `entry`, in blocks before `block`. */
export interface AuditPlace {
  block: number;
  entry: number;
}

export interface AuditPage {
  providerCode: string;
  /** Null: of each kind. */
  who: Actor['kind'] | null;
  group: ActionGroup | null;
  /** Null: the newest. */
  before: AuditPlace | null;
  countMax: number;
}

/** Blocks of a read, and reads of a page: of a busy appliance few entries are of one provider. */
const READ_COUNT = 32;
const READS_MAX = 32;

/** An entry with an action that this version knows. */
export type KnownEntry = NumberedEntry & { action: Action };

/**
 * Lists entries of a provider, newest first, with the position of the next page; null: there is
 * none. A page may have fewer than `countMax` entries, also none, and continue. Skips damaged
 * blocks, which `gatepost audit verify` names.
 */
export async function pageAudit(
  core: Core,
  page: AuditPage,
): Promise<{ entries: KnownEntry[]; next: AuditPlace | null }> {
  const { block: beforeBlock, entry: beforeEntry } = page.before ?? NEWEST;
  const entries: KnownEntry[] = [];
  let before = beforeBlock;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const blocks = await core.store.readAuditBack(before, READ_COUNT);
    for (const block of blocks) {
      // Most blocks are of others: to search a text takes a tenth of the time of parsing it.
      if (!block.entries.includes(`"${page.providerCode}"`)) continue;
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

function fits(entry: NumberedEntry, { group, providerCode, who }: AuditPage): entry is KnownEntry {
  return (
    providerOf(entry) === providerCode &&
    (who === null || entry.who === who) &&
    entry.action in ACTIONS &&
    (group === null || GROUPS[group].some((start) => entry.action.startsWith(start)))
  );
}

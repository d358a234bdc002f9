/**
 * Notes what is done in the audit log, within the commit that does it: what all of its writes noted
 * becomes one block, chained to the newest one, which is read under the write lock.
 */

import { sql } from 'drizzle-orm';
import { blockAfter, NO_ANCHOR } from '../../core/audit/chain.ts';
import { type Deed, type EntryText, entryText } from '../../core/audit/entry.ts';
import { type ChangeCount, countDeed, isCounted } from '../../core/audit/listed.ts';
import type { Act, AuditAnchor, AuditBlock } from '../../core/port/audit.ts';
import type { Connection } from './connection.ts';
import { value } from './statement.ts';
import type { BatchNotes } from './writer.ts';

/** Statements about the log alone, which every schema that has one takes. */
function chainStatements(db: Connection) {
  return {
    newest: db.prepare<Pick<AuditBlock, 'number' | 'hash'>>(sql`
        SELECT last_number AS number, hash FROM audit ORDER BY last_number DESC LIMIT 1`),
    anchor: anchorStatement(db),
    add: db.prepare(sql`
        INSERT INTO audit (last_number, at_ms, prev_hash, hash, entries)
        VALUES (${value('number')}, ${value('atMs')}, ${value('prevHash')}, ${value('hash')},
          ${value('entries')})`),
  };
}

function trailStatements(db: Connection) {
  return {
    changesOf: db.prepare<ChangeCount>(sql`
        SELECT changes_from_ms AS "fromMs", change_count AS count, unlisted_count AS unlisted
        FROM provider WHERE code = ${value('name')}`),
    setChanges: db.prepare(sql`
        UPDATE provider SET changes_from_ms = ${value('fromMs')}, change_count = ${value('count')},
          unlisted_count = ${value('unlisted')}
        WHERE code = ${value('name')}`),
    codeOf: db.prepare<{ code: string }>(
      sql`SELECT code FROM provider WHERE id = ${value('providerId')}`,
    ),
  };
}

export const anchorStatement = (db: Connection) =>
  db.prepare<AuditAnchor>(sql`
      SELECT last_number AS number, hash, until_ms AS "untilMs" FROM audit_anchor`);

/** The end of the chain, also in a database of an older schema. */
export class AuditChain {
  readonly #on: ReturnType<typeof chainStatements>;

  constructor(db: Connection) {
    this.#on = chainStatements(db);
  }

  /** Adds the entries as one block, within a write. */
  add(entries: readonly EntryText[]): void {
    if (entries.length === 0) return;
    const newest = this.#on.newest.get() ?? this.#on.anchor.get() ?? NO_ANCHOR;
    this.#on.add.run({ ...blockAfter(newest, entries) });
  }
}

/**
 * Collects the entries of the writes of one commit, and adds them to the chain as one block at its
 * end: a hash and a row for each commit, not for each entry. The write lock orders processes, so
 * that the newest block that is read there is the newest there is.
 */
export class AuditTrail implements BatchNotes {
  #entries: EntryText[] = [];
  readonly #chain: AuditChain;
  readonly #on: ReturnType<typeof trailStatements>;

  constructor(db: Connection) {
    this.#chain = new AuditChain(db);
    this.#on = trailStatements(db);
  }

  /** Notes what a write changed, within it, on something of this provider's. */
  note(act: Act, done: Deed | null, providerId?: number): void {
    const deed = done && this.#listed(act, done);
    if (deed === null) return;
    const isOwn = providerId === undefined || act.actor.kind === 'provider';
    const provider = isOwn ? undefined : this.#on.codeOf.get({ providerId })?.code;
    this.#entries.push(entryText(act, provider === undefined ? deed : { ...deed, provider }));
  }

  /** The deed with the number of those before it that have no entry; null: it has none either. */
  #listed({ actor, atMs }: Act, deed: Deed): Deed | null {
    if (!isCounted(actor, deed)) return deed;
    const { name } = actor;
    const before = this.#on.changesOf.get({ name });
    if (before === null) return deed;
    const { after, listed } = countDeed(before, atMs, deed);
    this.#on.setChanges.run({ name, ...after });
    return listed;
  }

  mark(): number {
    return this.#entries.length;
  }

  undo(mark: number): void {
    this.#entries.length = mark;
  }

  seal(): void {
    this.#chain.add(this.#entries);
  }

  clear(): void {
    this.#entries = [];
  }
}

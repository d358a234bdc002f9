/** Notes what is done in the audit log, within the commit that does it. */

import { sql } from 'drizzle-orm';
import { hashOfLink, NO_ANCHOR } from '../../core/audit/chain.ts';
import {
  type Deed,
  entryText,
  isListed,
  isRepeatable,
  LISTED_WINDOW_MS,
} from '../../core/audit/entry.ts';
import type { Act, Actor, AuditAnchor, AuditLink } from '../../core/port/audit.ts';
import type { Connection } from './connection.ts';
import { raw } from './raw.ts';
import { prepare, value } from './statement.ts';
import type { BatchNotes } from './writer.ts';

/** A deed whose provider may be known by its id alone. */
type NotedDeed = Deed & { providerId?: number };

/** A clock set far back begins another window, a call that was held back does not. */
const IN_WINDOW = sql`(abs(${value('atMs')} - changes_from_ms) < ${LISTED_WINDOW_MS})`;

/** Those of the log alone, which every schema that has one takes. */
function chainStatements(db: Connection) {
  return {
    newest: prepare(
      db,
      raw<Pick<AuditLink, 'number' | 'hash'>>(sql`
        SELECT last_number AS number, hash FROM audit ORDER BY last_number DESC LIMIT 1`),
    ),
    anchor: anchorStatement(db),
    add: prepare(
      db,
      raw(sql`
        INSERT INTO audit (last_number, at_ms, prev_hash, hash, entries)
        VALUES (${value('number')}, ${value('atMs')}, ${value('prevHash')}, ${value('hash')},
          ${value('entries')})`),
    ),
  };
}

function trailStatements(db: Connection) {
  return {
    /** Changes of a provider in the window that is open, and those since its last entry. */
    countChange: prepare(
      db,
      raw<{ count: number; unlisted: number }>(sql`
        UPDATE provider
        SET changes_from_ms = iif(${IN_WINDOW}, changes_from_ms, ${value('atMs')}),
          change_count = iif(${IN_WINDOW}, change_count, 0) + 1
        WHERE code = ${value('name')}
        RETURNING change_count AS count, unlisted_count AS unlisted`),
    ),
    setUnlisted: prepare(
      db,
      raw(sql`
        UPDATE provider SET unlisted_count = ${value('unlisted')} WHERE code = ${value('name')}`),
    ),
    codeOf: prepare(
      db,
      raw<{ code: string }>(sql`SELECT code FROM provider WHERE id = ${value('providerId')}`),
    ),
  };
}

/** An entry as it is kept. */
interface Entry {
  text: string;
  atMs: number;
}

export const anchorStatement = (db: Connection) =>
  prepare(
    db,
    raw<AuditAnchor>(sql`
      SELECT last_number AS number, hash, until_ms AS "untilMs" FROM audit_anchor`),
  );

/** The end of the chain, also in a database of an older schema. */
export class AuditChain {
  readonly #on: ReturnType<typeof chainStatements>;

  constructor(db: Connection) {
    this.#on = chainStatements(db);
  }

  /** To be called within a write: adds the entries as one link. */
  add(entries: readonly Entry[]): void {
    const last = entries.at(-1);
    if (last === undefined) return;
    const before = this.#on.newest.get() ?? this.#on.anchor.get() ?? NO_ANCHOR;
    const link = {
      number: before.number + entries.length,
      prevHash: before.hash,
      entries: `[${entries.map(({ text }) => text).join(',')}]`,
    };
    this.#on.add.run({ ...link, atMs: last.atMs, hash: hashOfLink(link) });
  }
}

/**
 * Collects the entries of the writes of one commit, and adds them to the chain as one link at its
 * end: a hash and a row for each commit, not for each entry. The write lock orders processes, so
 * that the newest link that is read there is the newest there is.
 */
export class AuditTrail implements BatchNotes {
  #entries: Entry[] = [];
  readonly #chain: AuditChain;
  readonly #on: ReturnType<typeof trailStatements>;

  constructor(db: Connection) {
    this.#chain = new AuditChain(db);
    this.#on = trailStatements(db);
  }

  /** To be called within a write, for what it changed. */
  note({ actor, atMs }: Act, done: NotedDeed): void {
    const deed = isRepeatable(actor, done) ? this.#counted(actor, atMs, done) : done;
    if (deed === null) return;
    const { providerId } = deed;
    const isOwn = providerId === undefined || actor.kind === 'provider';
    const provider = isOwn ? undefined : this.#on.codeOf.get({ providerId })?.code;
    const told = provider === undefined ? deed : { ...deed, provider };
    this.#entries.push({ text: entryText(actor, atMs, told), atMs });
  }

  /** The deed with the number of those before it that have no entry; null: it has none either. */
  #counted({ name }: Actor, atMs: number, deed: NotedDeed): NotedDeed | null {
    const counted = this.#on.countChange.get({ name, atMs });
    if (counted === null) return deed;
    const { count, unlisted } = counted;
    if (!isListed(count)) {
      this.#on.setUnlisted.run({ name, unlisted: unlisted + 1 });
      return null;
    }
    if (unlisted === 0) return deed;
    this.#on.setUnlisted.run({ name, unlisted: 0 });
    return { ...deed, object: { ...deed.object, unlisted_before: unlisted } };
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

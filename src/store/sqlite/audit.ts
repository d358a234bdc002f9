/** The audit log: noting what is done within the commit that does it, reading it, pruning it. */

import { sql } from 'drizzle-orm';
import { type AuditAnchor, type AuditLink, hashOfLink, NO_ANCHOR } from '../../core/audit/chain.ts';
import {
  type Act,
  type Actor,
  type Deed,
  entryText,
  isListed,
  isRepeatable,
  LISTED_WINDOW_MS,
} from '../../core/audit/entry.ts';
import type { AuditStore } from '../../core/port/audit.ts';
import type { Connection } from './connection.ts';
import { type Context, value } from './context.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import type { BatchNotes } from './writer.ts';

/** A deed whose provider may be known by its id alone. */
type NotedDeed = Deed & { providerId?: number };

const anchorStatement = (db: Connection) =>
  prepare(
    db,
    raw<AuditAnchor>(sql`
      SELECT last_number AS number, hash, until_ms AS "untilMs" FROM audit_anchor`),
  );

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

/**
 * How many links and entries a step of pruning deletes, but for one link that alone holds more: it
 * must not hold up the writes of others.
 */
const PRUNE_LINKS_MAX = 500;
const PRUNE_ENTRIES_MAX = 5_000;

function statements({ db }: Context) {
  const columns = sql.raw(
    'last_number AS number, at_ms AS "atMs", prev_hash AS "prevHash", hash, entries',
  );
  return {
    after: prepare(
      db,
      raw<AuditLink>(sql`
        SELECT ${columns} FROM audit WHERE last_number > ${value('number')}
        ORDER BY last_number LIMIT ${value('countMax')}`),
    ),
    before: prepare(
      db,
      raw<AuditLink>(sql`
        SELECT ${columns} FROM audit WHERE last_number < ${value('number')}
        ORDER BY last_number DESC LIMIT ${value('countMax')}`),
    ),
    newestNumber: prepare(
      db,
      raw<{ number: number | null }>(sql`SELECT max(last_number) AS number FROM audit`),
    ),
    anchor: anchorStatement(db),
    oldest: prepare(
      db,
      raw<Pick<AuditLink, 'number' | 'atMs' | 'hash'>>(sql`
        SELECT last_number AS number, at_ms AS "atMs", hash FROM audit
        ORDER BY last_number LIMIT ${PRUNE_LINKS_MAX}`),
    ),
    drop: prepare(db, raw(sql`DELETE FROM audit WHERE last_number <= ${value('number')}`)),
    moveAnchor: prepare(
      db,
      raw(sql`
        INSERT INTO audit_anchor (id, last_number, hash, until_ms)
        VALUES (1, ${value('number')}, ${value('hash')}, ${value('untilMs')})
        ON CONFLICT (id) DO UPDATE SET last_number = excluded.last_number, hash = excluded.hash,
          until_ms = excluded.until_ms`),
    ),
  };
}

export function auditStore(context: Context): AuditStore {
  const { writer, audit } = context;
  const on = statements(context);

  /** The links that the next step deletes, and whether those are all that are to go. */
  function tooOld({ beforeMs, entriesMax }: { beforeMs: number; entriesMax: number }) {
    const newest = on.newestNumber.get()?.number ?? 0;
    const anchor = on.anchor.get() ?? NO_ANCHOR;
    // With one to spare for the entry that the step leaves.
    const surplusUntil = newest - anchor.number > entriesMax ? newest - entriesMax + 1 : 0;
    const oldest = on.oldest.all();
    let number = anchor.number;
    const end = oldest.findIndex((link) => {
      const isOld = number < surplusUntil || link.atMs < beforeMs;
      number = link.number;
      return !isOld;
    });
    const old = end < 0 ? oldest : oldest.slice(0, end);
    const few = old.filter((link) => link.number <= anchor.number + PRUNE_ENTRIES_MAX);
    const gone = few.length > 0 ? few : old.slice(0, 1);
    return { gone, isAll: gone.length === old.length && old.length < PRUNE_LINKS_MAX, anchor };
  }

  return {
    readAudit: async (number, countMax) => ({
      anchor: on.anchor.get() ?? NO_ANCHOR,
      links: on.after.all({ number, countMax }),
    }),

    readAuditBack: async (number, countMax) => on.before.all({ number, countMax }),

    pruneAudit: async (bounds, act) => {
      // Looking costs no write.
      if (tooOld(bounds).gone.length === 0) return false;
      return writer.run(() => {
        const { gone, isAll, anchor } = tooOld(bounds);
        const last = gone.at(-1);
        if (last === undefined) return false;
        const { number, hash, atMs: untilMs } = last;
        const count = number - anchor.number;
        on.drop.run({ number });
        on.moveAnchor.run({ number, hash, untilMs });
        const until = new Date(untilMs).toISOString();
        const object = { entries: count, through: number, hash: Buffer.from(hash).toString('hex') };
        audit.note(act, { action: 'audit.prune', object: { ...object, until } });
        return !isAll;
      });
    },
  };
}

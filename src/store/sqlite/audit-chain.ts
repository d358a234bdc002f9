/** The chain of the audit log: each commit adds its entries as one block after the newest one. */

import { blockAfter, NO_ANCHOR } from '../../core/audit/chain.ts';
import type { EntryText } from '../../core/audit/entry.ts';
import { columns, sql } from '../statement-text.ts';
import type { Connection } from './connection.ts';

/** Statements about the log alone, which work in every schema with a log. */
const chainStatements = (db: Connection) => ({
  newest: db.prepare(sql`
      SELECT ${columns('audit', 'lastNumber AS number, hash')}
      FROM audit ORDER BY last_number DESC LIMIT 1`),
  anchor: db.prepare(sql`
      SELECT ${columns('audit_anchor', 'lastNumber AS number, hash, untilMs')} FROM audit_anchor`),
  add: db.prepare(sql`
      INSERT INTO audit (last_number, at_ms, prev_hash, hash, entries)
      VALUES (:number, :atMs, :prevHash, :hash,
        :entries)`),
});

/** The end of the chain, in any schema with one. The write lock keeps processes in order. */
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

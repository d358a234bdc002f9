/** The file as a side of a move. */

import { Database } from 'bun:sqlite';
import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../../migrations/sqlite/index.ts';
import { moveDatabase } from '../../core/audit/deeds.ts';
import { type EntryText, entryText } from '../../core/audit/entry.ts';
import type { Act, AuditAnchor, AuditBlock } from '../../core/port/audit.ts';
import { OperatorError } from '../../operator-error.ts';
import { makeOwnFile } from '../../permissions.ts';
import { AuditChain } from '../sqlite/audit-chain.ts';
import { Connection } from '../sqlite/connection.ts';
import { findDamage } from '../sqlite/file/copy.ts';
import {
  APPLICATION_ID,
  ARRIVING_ID,
  LEFT_ID,
  pragmaNumber,
  refuseNewer,
  SCHEMA_VERSION,
} from '../sqlite/file/migrate.ts';
import { DATABASE_FILE, isSqlite, openToLook } from '../sqlite/file/open.ts';
import type { Field } from './copy-text.ts';
import { type MovedTable, movedTables, namesOf, orderInFile } from './tables.ts';

/** `blank`: there is no file, or an empty one. */
export type FileState = 'blank' | 'atWork' | 'left' | 'arriving';

/** Time that SQLite waits for a lock, ms. */
const BUSY_TIMEOUT_MS = 10_000;
/** Rows between two reports. */
const ROWS_AT_A_TIME = 2_000;
/** Memory for pages, KiB. */
const CACHE_KIB = 64 * 1024;

export class FileSide {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  }

  /** Opens the database; `isToLook`: for reading, while a server may run. */
  static open(dataDir: string, isToLook: boolean): FileSide {
    const file = join(dataDir, DATABASE_FILE);
    if (isToLook) {
      const side = new FileSide(openToLook(file));
      side.#db.run('BEGIN');
      return side;
    }
    return new FileSide(new Database(file, { readwrite: true, strict: true }));
  }

  close(): void {
    this.#db.close();
  }

  tables(): MovedTable[] {
    return movedTables(this.#db);
  }

  count({ name }: Pick<MovedTable, 'name'>): number {
    const found = this.#db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${name}`);
    return found.get()?.count ?? 0;
  }

  *rows(table: MovedTable): Generator<Readonly<Record<string, Field>>> {
    const rows = this.#db.prepare<Record<string, Field>, []>(
      `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${orderInFile(table)}`,
    );
    try {
      yield* rows.iterate();
    } finally {
      // A statement that is left keeps the file open.
      rows.finalize();
    }
  }

  /** Returns the last id of a table; 0: none yet. */
  lastId({ name }: MovedTable): number {
    const given = this.#db.query<{ seq: number }, [string]>(
      'SELECT seq FROM sqlite_sequence WHERE name = ?',
    );
    return given.get(name)?.seq ?? 0;
  }

  /** Reads the audit log as `readAudit` of the port does. */
  async readAudit(
    after: number,
    countMax: number,
  ): Promise<{ anchor: AuditAnchor; blocks: AuditBlock[] }> {
    const from = Number.isFinite(after) ? after : Number.MIN_SAFE_INTEGER;
    const blocks = this.#db
      .query<AuditBlock, [number, number]>(
        `SELECT last_number AS number, at_ms AS atMs, prev_hash AS prevHash, hash, entries
         FROM audit WHERE last_number > ? ORDER BY last_number LIMIT ?`,
      )
      .all(from, countMax);
    const anchor = this.#db
      .query<AuditAnchor, []>(
        'SELECT last_number AS number, hash, until_ms AS untilMs FROM audit_anchor',
      )
      .get();
    return { anchor: anchor ?? { number: 0, hash: new Uint8Array(32), untilMs: null }, blocks };
  }

  /** Returns true if this log has the block `NUMBER:HASH`; null: the head of an empty log. */
  hasHead(head: string | null): boolean {
    if (head === null) return true;
    const [number = '', hash = ''] = head.split(':');
    const found = this.#db.query<unknown, [number, string]>(
      'SELECT 1 FROM audit WHERE last_number = ? AND lower(hex(hash)) = ?',
    );
    return found.get(Number(number), hash) !== null;
  }

  /** Sets the mark of a move, synced; null: the file is in use. */
  mark(mark: 'left' | 'arriving' | null): void {
    const id = mark === null ? APPLICATION_ID : mark === 'left' ? LEFT_ID : ARRIVING_ID;
    this.#db.run('PRAGMA synchronous = FULL');
    this.#db.run(`PRAGMA application_id = ${id}`);
  }
}

/** Reads the state of the file. Throws {@link OperatorError} if it is not Gatepost's. */
export function stateOfFile(dataDir: string): FileState {
  const file = join(dataDir, DATABASE_FILE);
  if (!existsSync(file) || (statSync(file).size === 0 && !existsSync(`${file}-wal`)))
    return 'blank';
  if (!isSqlite(file)) throw new OperatorError(`${file} is not a SQLite database`);
  const db = openToLook(file);
  try {
    const id = pragmaNumber(db, 'application_id');
    if (id === LEFT_ID) return 'left';
    if (id === ARRIVING_ID) return 'arriving';
    const schema = pragmaNumber(db, 'user_version');
    if (schema === 0) return 'blank';
    if (id !== APPLICATION_ID) {
      throw new OperatorError(`${file} is a database of another program; nothing was changed`);
    }
    refuseNewer(file, schema);
    if (schema === SCHEMA_VERSION) return 'atWork';
    throw new OperatorError(
      `${file} has schema ${schema}, this program needs ${SCHEMA_VERSION}: restart 'gatepost serve' with this version first`,
      'database_older',
    );
  } finally {
    db.close();
  }
}

/** Returns the tables of this program's schema. */
export function programTables(): MovedTable[] {
  const db = new Database(':memory:');
  try {
    for (const migration of MIGRATIONS) db.run(migration);
    return movedTables(db);
  } finally {
    db.close();
  }
}

/** A new database file, not in place yet. */
export class NewFile {
  readonly #file: string;
  readonly #db: Database;
  /** Statements that make indexes and triggers, once all rows are there. */
  readonly #later: string[];

  constructor(file: string) {
    this.#file = file;
    makeOwnFile(file);
    this.#db = new Database(file, { create: true, readwrite: true, strict: true });
    // It counts for nothing until it is complete and synced.
    this.#db.run('PRAGMA journal_mode = MEMORY');
    this.#db.run('PRAGMA synchronous = OFF');
    this.#db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    for (const migration of MIGRATIONS) this.#db.run(migration);
    this.#db.run(`PRAGMA application_id = ${ARRIVING_ID}`);
    this.#db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    const parts = this.#db
      .query<{ type: string; name: string; sql: string }, []>(
        `SELECT type, name, sql FROM sqlite_schema
         WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type`,
      )
      .all();
    this.#later = parts.map(({ sql }) => sql);
    for (const { type, name } of parts) this.#db.run(`DROP ${type} "${name}"`);
  }

  /** Adds rows; `onRows` is called with their number now and then. */
  async take(
    table: MovedTable,
    rows: AsyncIterable<Field[]>,
    onRows: (count: number) => void,
  ): Promise<void> {
    const places = table.columns.map(() => '?').join(', ');
    const add = this.#db.prepare(
      `INSERT INTO ${table.name} (${namesOf(table)}) VALUES (${places})`,
    );
    let count = 0;
    this.#db.run('BEGIN');
    for await (const row of rows) {
      add.run(...row);
      count += 1;
      if (count % ROWS_AT_A_TIME === 0) onRows(ROWS_AT_A_TIME);
    }
    onRows(count % ROWS_AT_A_TIME);
    this.#db.run('COMMIT');
    add.finalize();
  }

  /** Completes it after the rows: ids, indexes, triggers and counts. */
  finish(lastIds: ReadonlyMap<string, number>): void {
    this.#db.run('BEGIN');
    this.#db.run('DELETE FROM sqlite_sequence');
    const give = this.#db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
    for (const [name, id] of lastIds) if (id > 0) give.run(name, id);
    for (const text of this.#later) this.#db.run(text);
    this.#db.run(`UPDATE appliance
      SET stranger_count = (SELECT count(*) FROM device WHERE holder_count = 0)`);
    this.#db.run('COMMIT');
    const wrong = findDamage(this.#db);
    if (wrong !== null) throw new Error(`the new file is not sound: ${wrong}`);
  }

  /** Adds the entry about the move. */
  note(act: Act): void {
    const entries: EntryText[] = [entryText(act, moveDatabase('postgres'))];
    const chain = new AuditChain(new Connection(this.#db));
    this.#db.transaction(() => chain.add(entries))();
  }

  /** Returns it as a side, to check it. */
  look(): FileSide {
    return new FileSide(this.#db);
  }

  /** Closes and syncs it. */
  close(): void {
    this.#db.close();
    const fd = openSync(this.#file, 'r');
    fsyncSync(fd);
    closeSync(fd);
  }

  /** Closes it without a sync. */
  drop(): void {
    this.#db.close();
  }
}

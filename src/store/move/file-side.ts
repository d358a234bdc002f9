/** The file as a side of a move. */

import { Database } from 'bun:sqlite';
import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../../migrations/sqlite/index.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { makeOwnFile } from '../../base/permissions.ts';
import { VERSION } from '../../base/version.ts';
import { moveDatabase } from '../../core/audit/deeds.ts';
import { entryText } from '../../core/audit/entry.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Reader } from '../backend.ts';
import { AuditChain } from '../sqlite/audit-chain.ts';
import { Connection } from '../sqlite/connection.ts';
import { runNow, sqliteStatements } from '../sqlite/dialect.ts';
import { findDamage } from '../sqlite/file/copy.ts';
import {
  APPLICATION_ID,
  ARRIVING_ID,
  factOf,
  LEFT_ID,
  pragmaNumber,
  refuseMark,
  refuseNewer,
  refuseOlder,
  SCHEMA_VERSION,
} from '../sqlite/file/migrate.ts';
import { DATABASE_FILE, isSqlite, openToLook } from '../sqlite/file/open.ts';
import type { Field, Rows, Side, Target } from './side.ts';
import { KEY_TABLE, type MovedTable, movedTables, namesOf, orderOf } from './tables.ts';

/** `blank`: there is no file, or an empty one. */
type FileState = 'blank' | 'atWork' | 'left' | 'arriving';

/** Time that SQLite waits for a lock, ms. */
const BUSY_TIMEOUT_MS = 10_000;
/** Rows between two reports. */
const ROWS_AT_A_TIME = 2_000;
/** Memory for pages, KiB. */
const CACHE_KIB = 64 * 1024;

export class FileSide implements Side {
  readonly backend: Reader;
  protected readonly connection: Connection;

  constructor(protected readonly db: Database) {
    this.connection = new Connection(db);
    const { prepare } = sqliteStatements(this.connection);
    this.backend = { prepare, read: (step) => runNow(step()) };
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  }

  /** Opens the database; `isToLook` opens it for reading, while a server may run. */
  static open(dataDir: string, isToLook: boolean): FileSide {
    const file = join(dataDir, DATABASE_FILE);
    if (!isToLook) return new FileSide(new Database(file, { readwrite: true, strict: true }));
    const side = new FileSide(openToLook(file));
    side.db.run('BEGIN');
    return side;
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }

  tables(): MovedTable[] {
    return movedTables(this.db);
  }

  *rows(table: MovedTable): Generator<Field[]> {
    const rows = this.db.prepare<Record<string, Field>, []>(
      `SELECT ${namesOf(table)} FROM ${table.name} ORDER BY ${orderOf(table, 'rowid')}`,
    );
    try {
      for (const row of rows.iterate()) yield Object.values(row);
    } finally {
      // A statement that is not finalized keeps the file open.
      rows.finalize();
    }
  }

  lastId({ name }: MovedTable): number {
    const given = this.db.query<{ seq: number }, [string]>(
      'SELECT seq FROM sqlite_sequence WHERE name = ?',
    );
    return given.get(name)?.seq ?? 0;
  }

  /** Marks that the data moved to a place, and syncs it; null: the file is in use. */
  mark(movedTo: string | null): void {
    this.connection.endReads();
    this.db.run('PRAGMA synchronous = FULL');
    this.db.transaction(() => {
      this.db.run('UPDATE appliance SET moved_to = ?', [movedTo]);
      this.db.run(`PRAGMA application_id = ${movedTo === null ? APPLICATION_ID : LEFT_ID}`);
    })();
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
    refuseMark(file, db);
    refuseNewer(file, schema, factOf(db, 'program'));
    refuseOlder(file, schema);
    return 'atWork';
  } finally {
    db.close();
  }
}

/** A new database file that is not in place yet. */
export class NewFile extends FileSide implements Target {
  /** Statements that make indexes and triggers after all rows are added. */
  readonly #later: string[];

  constructor(private readonly file: string) {
    makeOwnFile(file);
    super(new Database(file, { create: true, readwrite: true, strict: true }));
    // A crash may destroy the file, because it is unused until it is complete and synced.
    this.db.run('PRAGMA journal_mode = MEMORY');
    this.db.run('PRAGMA synchronous = OFF');
    for (const migration of MIGRATIONS) this.db.run(migration);
    this.db.run(`DELETE FROM ${KEY_TABLE}`);
    this.db.run(`PRAGMA application_id = ${ARRIVING_ID}`);
    this.db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    const parts = this.db
      .query<{ type: string; name: string; sql: string }, []>(
        `SELECT type, name, sql FROM sqlite_schema
         WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type`,
      )
      .all();
    this.#later = parts.map(({ sql }) => sql);
    for (const { type, name } of parts) this.db.run(`DROP ${type} "${name}"`);
  }

  async take(table: MovedTable, rows: Rows, onRows: (count: number) => void): Promise<void> {
    const places = table.columns.map(() => '?').join(', ');
    const add = this.db.prepare(`INSERT INTO ${table.name} (${namesOf(table)}) VALUES (${places})`);
    let count = 0;
    this.connection.endReads();
    this.db.run('BEGIN');
    for await (const row of rows) {
      add.run(...row);
      count += 1;
      if (count % ROWS_AT_A_TIME === 0) onRows(ROWS_AT_A_TIME);
    }
    onRows(count % ROWS_AT_A_TIME);
    this.db.run('COMMIT');
    add.finalize();
  }

  finish(lastIds: ReadonlyMap<string, number>): void {
    this.db.run('BEGIN');
    this.db.run('DELETE FROM sqlite_sequence');
    const give = this.db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
    for (const [name, id] of lastIds) if (id > 0) give.run(name, id);
    give.finalize();
    for (const text of this.#later) this.db.run(text);
    this.db.run(
      `UPDATE appliance SET program = ?,
         stranger_count = (SELECT count(*) FROM device WHERE holder_count = 0)`,
      [VERSION],
    );
    this.db.run('COMMIT');
    const wrong = findDamage(this.db);
    if (wrong !== null) throw new Error(`the new file is not sound: ${wrong}`);
  }

  note(act: Act): void {
    this.connection.endReads();
    const chain = new AuditChain(this.connection);
    this.db.transaction(() => chain.add([entryText(act, moveDatabase('postgres'))]))();
  }

  /** Closes and syncs it. */
  sync(): void {
    this[Symbol.dispose]();
    const fd = openSync(this.file, 'r');
    fsyncSync(fd);
    closeSync(fd);
  }
}

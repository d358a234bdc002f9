/** The place of the database, in which another is put; the old one gets another name. */

import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../../disk/lock.ts';
import { OperatorError } from '../../../operator-error.ts';
import { giveToOwnerOfFolder } from '../../../permissions.ts';
import { findDamage, quoted, tableNames } from './copy.ts';
import { APPLICATION_ID, pragmaNumber, SCHEMA_VERSION } from './migrate.ts';
import { DATABASE_FILE, isSqlite, LOCK_FILE } from './open.ts';

const COMPANIONS = ['-wal', '-shm', '-journal'] as const;

/** The place of the database, held by one alone. */
export class DatabasePlace {
  readonly file: string;
  readonly #release: () => void;

  /** Throws {@link OperatorError} while anybody has the database open. */
  constructor(readonly dataDir: string) {
    this.file = join(dataDir, DATABASE_FILE);
    const release = takeLock(join(dataDir, LOCK_FILE), 'exclusive', 0);
    if (release === null) throw inUse(dataDir);
    this.#release = release;
    try {
      // Other programs do not know the lock: a shell of SQLite, a replicator.
      this.#present()?.close();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get isTaken(): boolean {
    return existsSync(this.file);
  }

  /** Whether the file is empty, as a crash while a database is being made leaves it. */
  get #isBlank(): boolean {
    return statSync(this.file).size === 0 && !existsSync(`${this.file}-wal`);
  }

  /**
   * The loss if the database in the file `other` came here: one sentence, or null when it holds
   * everything that is here. Throws `OperatorError` when the present one is in use.
   */
  wouldLose(other: string): string | null {
    if (!this.isTaken || this.#isBlank) return null;
    let present: Database | null = null;
    try {
      present = this.#present();
      if (present === null) return 'it cannot be read as a database';
      return lossOf(present, other);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      return `it cannot be read (${error.message})`;
    } finally {
      present?.close();
    }
  }

  /**
   * Puts the database file `other`, which lies in the same directory, in the place. The present one
   * gets the name `oldName`; with it go the files that SQLite had beside it, if it could not be
   * opened. At every moment there is a whole database under the name, the old or the new one.
   * Returns whether there was one.
   */
  fill(other: string, oldName: string): boolean {
    giveToOwnerOfFolder(other);
    if (!this.isTaken) {
      this.#dropCompanions();
      renameSync(other, this.file);
      return false;
    }
    let present: Database | null = null;
    try {
      present = this.#present();
      // Everything into the one file; the lock stays until the other is in its place.
      present?.run('PRAGMA journal_mode = DELETE');
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      present?.close();
      present = null;
    }
    try {
      linkSync(this.file, oldName);
      if (present === null) moveCompanions(this.file, oldName);
      this.#rename(other, oldName);
    } finally {
      present?.close();
    }
    return true;
  }

  release(): void {
    this.#release();
  }

  /** Opens the present database with nobody else at it; null: there is none, or it is none. */
  #present(): Database | null {
    // SQLite would delete the log beside a file that is not its own.
    if (!this.isTaken || !isSqlite(this.file)) return null;
    const db = new Database(this.file, { readwrite: true, strict: true });
    try {
      // Fails while anybody else has it open, reading or not; takes the lock for good.
      db.run('PRAGMA locking_mode = EXCLUSIVE');
      db.run('BEGIN EXCLUSIVE');
      db.run('COMMIT');
      return db;
    } catch (error) {
      db.close();
      const code = error instanceof SQLiteError ? (error.code ?? '') : '';
      if (/^SQLITE_BUSY/.test(code)) throw inUse(this.dataDir);
      if (/^SQLITE_(NOTADB|CORRUPT|IOERR|CANTOPEN|ERROR)/.test(code)) return null;
      throw error;
    }
  }

  /** Renames the new one, and undoes the steps before when that fails. */
  #rename(other: string, oldName: string): void {
    try {
      renameSync(other, this.file);
    } catch (error) {
      moveCompanions(oldName, this.file);
      rmSync(oldName, { force: true });
      throw error;
    }
  }

  /** Removes files of a database that is gone: SQLite would apply its log to the new one. */
  #dropCompanions(): void {
    for (const end of COMPANIONS) rmSync(this.file + end, { force: true });
  }
}

function moveCompanions(from: string, to: string): void {
  for (const end of COMPANIONS) {
    if (existsSync(from + end)) renameSync(from + end, to + end);
  }
}

function inUse(dataDir: string): OperatorError {
  return new OperatorError(
    `the database in ${dataDir} is in use: stop 'gatepost serve' and everything else that has it open`,
  );
}

function lossOf(present: Database, other: string): string | null {
  if (findDamage(present, 'quick_check') !== null) return 'it is damaged';
  if (pragmaNumber(present, 'application_id') !== APPLICATION_ID) {
    return tableNames(present).length === 0 ? null : 'it is a database of another program';
  }
  const schema = pragmaNumber(present, 'user_version');
  if (schema > SCHEMA_VERSION) return `it has schema ${schema}, newer than this program`;
  present.query('ATTACH ? AS other').run(other);
  const offered = present.query<{ user_version: number }, []>('PRAGMA other.user_version').get();
  if (schema > (offered?.user_version ?? 0)) {
    return `it has schema ${schema}, the backup has ${offered?.user_version}`;
  }
  const lost = tableNames(present)
    // A replicator's book-keeping, which it writes without anything having happened.
    .filter((table) => !table.startsWith('_litestream_'))
    .map((table) => ({ table, count: changedRows(present, table) }))
    .filter(({ count }) => count > 0)
    .map(({ table, count }) => `${count} of ${table}`);
  return lost.length === 0
    ? null
    : `it has rows that were added, changed or deleted since: ${lost.join(', ')}`;
}

interface Column {
  name: string;
  pk: number;
}

/** Leaves out notes that a backup was restored: the next restore leaves its own. */
const BUT_RESTORES = `AND EXISTS (SELECT 1 FROM json_each(m.entries)
  WHERE json_extract(value, '$.action') IS NOT 'database.restore')`;

/**
 * Counts rows here that the other database lacks or has otherwise, and rows there that were here
 * once: their ids were given out here and are gone.
 */
function changedRows(db: Database, table: string): number {
  const count = (sql: string, ...values: string[]) =>
    db.query<{ count: number }, string[]>(sql).get(...values)?.count ?? 0;
  const name = quoted(table);
  const columns = (schema: string) =>
    db.query<Column, [string]>(`SELECT name, pk FROM pragma_table_info(?, '${schema}')`).all(table);
  const mine = columns('main');
  const theirs = new Set(columns('other').map(({ name }) => name));
  if (theirs.size === 0) return count(`SELECT count(*) AS count FROM main.${name}`);
  const keys = mine.filter(({ pk }) => pk > 0);
  const same = (list: readonly Column[]) =>
    list.map(({ name }) => `o.${quoted(name)} IS m.${quoted(name)}`).join(' AND ') || '1';
  const equal = (list: readonly Column[]) =>
    list.map(({ name }) => `o.${quoted(name)} = m.${quoted(name)}`).join(' AND ') || '1';
  const shared = mine.filter(({ name, pk }) => pk === 0 && theirs.has(name));
  const changed = count(
    `SELECT count(*) AS count FROM main.${name} m WHERE NOT EXISTS
       (SELECT 1 FROM other.${name} o WHERE ${equal(keys)} AND ${same(shared)})
       ${table === 'audit' ? BUT_RESTORES : ''}`,
  );
  const [key] = keys;
  if (keys.length !== 1 || key === undefined) return changed;
  const deleted = count(
    `SELECT count(*) AS count FROM other.${name} o
     WHERE o.${quoted(key.name)} <= (SELECT seq FROM main.sqlite_sequence WHERE name = ?)
       AND NOT EXISTS (SELECT 1 FROM main.${name} m WHERE ${equal(keys)})`,
    table,
  );
  return changed + deleted;
}

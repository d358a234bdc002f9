/** Migrates a database in one transaction: user_version is the number of migrations. */

import type { Database } from 'bun:sqlite';
import { MIGRATIONS } from '../../../../migrations/sqlite/index.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import { VERSION } from '../../../base/version.ts';
import { newerText } from '../../findings.ts';

export const SCHEMA_VERSION = MIGRATIONS.length;

/** "Gate" in ASCII: marks a SQLite file as a Gatepost database. */
export const APPLICATION_ID = 0x47617465;

/** "Gatl" and "Gata": a file whose rows moved to a server, or are arriving from one. */
export const LEFT_ID = 0x4761746c;
export const ARRIVING_ID = 0x47617461;

/** Throws {@link OperatorError} for a file whose data were moved, or that is not Gatepost's. */
export function refuseMark(file: string, db: Database): void {
  const applicationId = pragmaNumber(db, 'application_id');
  if (applicationId === APPLICATION_ID) return;
  if (applicationId !== LEFT_ID && applicationId !== ARRIVING_ID) {
    throw new OperatorError(`${file} is a database of another program; nothing was changed`);
  }
  throw new OperatorError(
    applicationId === LEFT_ID
      ? `the data of ${file} moved to ${factOf(db, 'moved_to') ?? 'PostgreSQL'}: set database.url, or bring them back with 'gatepost move-database --to sqlite'`
      : `the data of ${file} have not all arrived: run 'gatepost move-database --to sqlite' again`,
    'database_moved',
  );
}

export function pragmaNumber(db: Database, name: 'user_version' | 'application_id'): number {
  const row = db.query<Record<string, number>, []>(`PRAGMA ${name}`).get();
  return row?.[name] ?? 0;
}

/**
 * Reads a fact that the file has about itself, whatever its schema; null: unknown. Programs before
 * 0.20.0 noted none.
 */
export function factOf(db: Database, name: 'program' | 'moved_to'): string | null {
  try {
    const row = db.query<{ fact: unknown }, []>(`SELECT ${name} AS fact FROM appliance`).get();
    return typeof row?.fact === 'string' ? row.fact : null;
  } catch {
    return null;
  }
}

/**
 * Throws {@link OperatorError} for the schema of a newer program, with its version if it is known.
 */
export function refuseNewer(file: string, schema: number, program: string | null): void {
  if (schema <= SCHEMA_VERSION) return;
  const text = newerText(schema, SCHEMA_VERSION, program);
  throw new OperatorError(`${file} has ${text}; nothing was changed`, 'database_newer');
}

/** Throws {@link OperatorError} for a schema that must be migrated. */
export function refuseOlder(file: string, schema: number): void {
  if (schema >= SCHEMA_VERSION) return;
  throw new OperatorError(
    `${file} has schema ${schema}, this program needs ${SCHEMA_VERSION}: restart 'gatepost serve' with this version first`,
    'database_older',
  );
}

/** Runs missing migrations in one transaction. Throws {@link OperatorError} for a newer schema. */
export function migrate(db: Database): void {
  if (pragmaNumber(db, 'user_version') === SCHEMA_VERSION) return;
  // A migration that rebuilds a table needs this off; it cannot be changed within a transaction.
  db.run('PRAGMA foreign_keys = OFF');
  db.run('BEGIN IMMEDIATE');
  try {
    // Read again under the lock: another process may have migrated meanwhile.
    const schema = pragmaNumber(db, 'user_version');
    refuseNewer(db.filename, schema, factOf(db, 'program'));
    for (const migration of MIGRATIONS.slice(schema)) db.run(migration);
    if (db.query('PRAGMA foreign_key_check').get() !== null) {
      throw new Error('a migration left rows that point nowhere');
    }
    db.run('UPDATE appliance SET program = ?', [VERSION]);
    db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.run('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.run('ROLLBACK');
    throw error;
  }
}

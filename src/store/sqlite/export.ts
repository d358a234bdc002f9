/** The export of a provider, from one snapshot on a connection of its own. */

import { join } from 'node:path';
import type { ExportRecord, ImportStore } from '../../core/port/moving.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Step } from '../backend.ts';
import { exportRecords } from '../noun/export.ts';
import { Connection } from './connection.ts';
import { runNow, sqliteStatements } from './dialect.ts';
import { DATABASE_FILE, openToLook } from './file/open.ts';

async function* records(file: string, code: string): AsyncGenerator<ExportRecord> {
  const db = new Connection(openToLook(file));
  /** Runs a step after a turn of the event loop, so that calls are answered between two pages. */
  const run = async <T>(step: () => Step<T>): Promise<T> => {
    await nextTurn();
    return runNow(step());
  };
  try {
    // One read transaction for all records: meanwhile others write to the log beside the file.
    db.native.run('BEGIN');
    yield* exportRecords(sqliteStatements(db), run, code);
  } finally {
    if (db.inTransaction) db.native.run('ROLLBACK');
    db.close();
  }
}

export function exportStore(dataDir: string): Pick<ImportStore, 'exportProvider'> {
  const file = join(dataDir, DATABASE_FILE);
  return { exportProvider: (code) => records(file, code) };
}

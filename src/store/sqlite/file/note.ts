/** A note in the audit log of a database file that nobody else uses. */

import { Database } from 'bun:sqlite';
import { restoreDatabase } from '../../../core/audit/deeds.ts';
import { entryText } from '../../../core/audit/entry.ts';
import type { Act } from '../../../core/port/audit.ts';
import { AuditChain } from '../audit-trail.ts';
import { Connection } from '../connection.ts';
import { tableNames } from './copy.ts';

/** More events than there can have been since the backup. */
const SKIPPED_IDS = 1_000_000_000;

/**
 * Notes that the file is restored from a backup of `momentMs`, and has the disk keep it. Events get
 * ids from then on that none had before: receivers know them by their ids, and drop repeats. Does
 * nothing to a database of a schema without an audit log. Throws SQLite's error.
 */
export function noteRestoration(file: string, act: Act, momentMs: number): void {
  const native = new Database(file, { readwrite: true, strict: true });
  const db = new Connection(native);
  try {
    if (!tableNames(native).includes('audit')) return;
    native.run('PRAGMA synchronous = FULL');
    const chain = new AuditChain(db);
    native.transaction(() => {
      chain.add([entryText(act, restoreDatabase(momentMs))]);
      if (tableNames(native).includes('event')) skipEventIds(native);
    })();
  } finally {
    db.close();
  }
}

function skipEventIds(native: Database): void {
  native.run(`INSERT INTO sqlite_sequence (name, seq) SELECT 'event', 0
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'event')`);
  native.run(`UPDATE sqlite_sequence SET seq = seq + ${SKIPPED_IDS} WHERE name = 'event'`);
}

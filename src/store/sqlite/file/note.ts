/** The entry about a restore in the audit log of a restored file. */

import { Database } from 'bun:sqlite';
import { restoreDatabase } from '../../../core/audit/deeds.ts';
import { entryText } from '../../../core/audit/entry.ts';
import type { Act } from '../../../core/port/audit.ts';
import { AuditChain } from '../audit-chain.ts';
import { Connection } from '../connection.ts';
import { tableNames } from './copy.ts';

/** Tables whose ids bots and devices know, each with more ids than were given since the backup. */
const SKIPPED_IDS = {
  event: 1_000_000_000,
  // Bots may store these in 32 bits.
  distribution: 10_000_000,
} as const;

/**
 * Adds the entry that the file was restored from a backup of `momentMs`, and syncs it. Later events
 * and messages get unused ids, because receivers drop repeated ids. Does nothing in a schema
 * without an audit log. Throws SQLite's error.
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
      for (const [table, count] of Object.entries(SKIPPED_IDS)) skipIds(native, table, count);
    })();
  } finally {
    db.close();
  }
}

/** Does nothing in a schema without the table. */
function skipIds(native: Database, table: string, count: number): void {
  native.run(
    `INSERT INTO sqlite_sequence (name, seq) SELECT name, 0 FROM sqlite_schema
     WHERE name = ? AND NOT EXISTS (SELECT 1 FROM sqlite_sequence s WHERE s.name = ?)`,
    [table, table],
  );
  native.run('UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?', [count, table]);
}

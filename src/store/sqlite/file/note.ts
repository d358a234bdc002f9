/** Noting a deed in the audit log of a database file that nobody else uses. */

import { Database } from 'bun:sqlite';
import { type Deed, entryText } from '../../../core/audit/entry.ts';
import type { Act } from '../../../core/port/audit.ts';
import { AuditChain } from '../audit-trail.ts';
import { Connection } from '../connection.ts';
import { tableNames } from './copy.ts';

/**
 * Adds an entry to the end of the chain and has the disk keep it. Does nothing to a database of a
 * schema that had no audit log yet. Throws SQLite's error.
 */
export function noteInFile(file: string, { actor, atMs }: Act, deed: Deed): void {
  const native = new Database(file, { readwrite: true, strict: true });
  const db = new Connection(native);
  try {
    if (!tableNames(native).includes('audit')) return;
    native.run('PRAGMA synchronous = FULL');
    const chain = new AuditChain(db);
    native.transaction(() => chain.add([{ text: entryText(actor, atMs, deed), atMs }]))();
  } finally {
    db.close();
  }
}

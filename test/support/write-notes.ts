/** The notes of writes on an SQLite database of a test. */

import { FigureCounter } from '../../src/store/noun/figure-counter.ts';
import { type NotesHome, noteStatements, WriteNotes } from '../../src/store/noun/notes.ts';
import { AuditChain } from '../../src/store/sqlite/audit-chain.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
import { Done, sqliteStatements } from '../../src/store/sqlite/dialect.ts';

export function notesOn(db: Connection, home: Partial<NotesHome> = {}): WriteNotes {
  const chain = new AuditChain(db);
  return new WriteNotes(noteStatements(sqliteStatements(db)), {
    figures: new FigureCounter(),
    addEntries: (entries) => new Done(chain.add(entries)),
    signal: () => new Done(undefined),
    ...home,
  });
}

/** PostgreSQL as the nouns see it. */

import type { Backend, Notes } from '../backend.ts';
import type { Context } from './context.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import type { Write } from './write.ts';

export { DIALECT, runOn, waitFor } from './dialect.ts';

export function postgresBackend(context: Context): Backend {
  const { db } = context;
  return {
    ...STATEMENTS,
    write: (step) => context.write((w) => runOn(w, step(w.notes))),
    change: (step) => runOn(db.writing, step()),
    read: (step) => runOn(db, step()),
    storeNowMs: () => context.storeNowMs(),
    storeMs: (atMs) => context.storeMs(atMs),
  };
}

/** The notes of a transaction. */
export const notesOf = (w: Write): Notes => w.notes;

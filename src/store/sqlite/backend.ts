/** SQLite as the backend of the nouns. */

import type { Backend } from '../backend.ts';
import type { WriteNotes } from '../noun/notes.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';
import { Together } from './together.ts';
import type { BatchNotes } from './writer.ts';

/** Makes the backend. `idle` settles when no calls of a turn wait for the writer. */
export function sqliteBackend(context: Context): Backend & { idle(): Promise<unknown> } {
  const { db, writer, notes, clock, leastMs } = context;
  const waiting: (() => Promise<void>)[] = [];
  return {
    ...sqliteStatements(db),
    write: (step) => writer.run(() => runNow(step(notes))),
    writeInTurn: (steps) => {
      const together = new Together(writer, notes, steps);
      waiting.push(() => together.idle());
      return (call) => together.ask(call);
    },
    change: (step) => writer.run(() => runNow(step())),
    read: (step) => runNow(step()),
    storeNowMs: () => clock.nowMs(),
    storeMs: (atMs) => atMs,
    leastMs,
    idle: () => Promise.all(waiting.map((idle) => idle())),
  };
}

/** The notes of the writes of a batch. */
export function batchNotes(notes: WriteNotes): BatchNotes {
  const batch: BatchNotes<ReturnType<WriteNotes['mark']>> = {
    mark: () => notes.mark(),
    undo: (mark) => notes.undo(mark),
    endWrite: () => {
      if (notes.hasEnd) runNow(notes.endWrite());
    },
    seal: () => runNow(notes.seal()),
    clear: (isSaved) => notes.clear(isSaved),
  };
  return batch as BatchNotes;
}

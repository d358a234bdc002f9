/** SQLite as the nouns see it. */

import type { Backend } from '../backend.ts';
import type { WriteNotes } from '../noun/notes.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';

import type { BatchNotes } from './writer.ts';

export function sqliteBackend({ db, writer, notes, clock }: Context): Backend {
  return {
    ...sqliteStatements(db),
    write: (step) => writer.run(() => runNow(step(notes))),
    // Writes of a turn share a commit here.
    writeInTurn: (steps) => (call) =>
      writer.run(() => {
        runNow(steps.begin([call]));
        return runNow(steps.run(notes, [call]))[0] as never;
      }),
    change: (step) => writer.run(() => runNow(step())),
    read: (step) => runNow(step()),
    storeNowMs: () => clock.nowMs(),
    storeMs: (atMs) => atMs,
  };
}

/** The notes of the writes of a batch. */
export function batchNotes(notes: WriteNotes): BatchNotes {
  const batch: BatchNotes<ReturnType<WriteNotes['mark']>> = {
    mark: () => notes.mark(),
    undo: (mark) => notes.undo(mark),
    endWrite: () => {
      if (notes.hasEvents) runNow(notes.endWrite());
    },
    seal: () => runNow(notes.seal()),
    clear: (isSaved) => notes.clear(isSaved),
  };
  return batch as BatchNotes;
}

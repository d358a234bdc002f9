/** PostgreSQL as the backend of the nouns. */

import type { Backend, WriteInTurn } from '../backend.ts';
import { inRounds } from '../rounds.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import { TurnGroup } from './group.ts';
import type { Context } from './write.ts';

/** Calls that share a transaction. */
const CALLS_MAX = 64;
/** Their amount of work; the last call may exceed it, and the others wait for all of it. */
const SIZE_MAX = 128;

export function postgresBackend(context: Context): Backend {
  const { db, leastMs } = context;
  return {
    ...STATEMENTS,
    write: (step) => context.write((w) => runOn(w, step(w.notes))),
    writeInTurn: (steps) => callsTogether(context, steps),
    change: (step) => runOn(db.writing, step()),
    read: (step) => runOn(db, step()),
    storeNowMs: () => context.storeNowMs(),
    storeMs: (atMs) => context.storeMs(atMs),
    leastMs,
  };
}

/** Returns the function that runs the calls of a turn in one transaction, in their order. */
function callsTogether<Call, Result>(
  { db, write }: Context,
  steps: WriteInTurn<Call, Result>,
): (call: Call) => Promise<Result> {
  const group = new TurnGroup<Call, Result>(db, {
    run: async (calls) => {
      const known = (await (steps.answer && runOn(db, steps.answer(calls)))) ?? [];
      const left = calls.filter((_, n) => known[n] === undefined);
      if (left.length === 0) return known as Result[];
      const results = await write(async (w) => {
        await runOn(w, steps.begin(left));
        return runOn(
          w,
          inRounds(left, steps.keyOf, (round) => steps.run(w.notes, round)),
        );
      });
      return calls.map((_, n) => known[n] ?? (results.shift() as Result));
    },
    itemsMax: CALLS_MAX,
    sizes: { of: (call) => steps.sizeOf?.(call) ?? 1, max: SIZE_MAX },
    inFlightMax: 1,
    isWrite: true,
  });
  return (call) => group.ask(call);
}

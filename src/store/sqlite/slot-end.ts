/** Bridge to noun/slot-end.ts for nouns that are not written once yet. */

import { historyStatements, slotEndSteps } from '../noun/slot-end.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';

export function slotEnder({ db, notes }: Context) {
  const { endSlot } = slotEndSteps(sqliteStatements(db));
  return (slot: Parameters<typeof endSlot>[1], why: Parameters<typeof endSlot>[2]): void =>
    runNow(endSlot(notes, slot, why));
}

export function storyStatements({ db }: Context) {
  return historyStatements(sqliteStatements(db)).map(({ run }) => ({
    run: (values: { id: number; countMax: number }) => runNow(run(values)),
  }));
}

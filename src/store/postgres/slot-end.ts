/** Bridge to noun/slot-end.ts for nouns that are not written once yet. */

import { historyStatements, type SlotRow, slotEndSteps } from '../noun/slot-end.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import type { Write } from './write.ts';

export type { SlotRow };

const steps = slotEndSteps(STATEMENTS);

export const storySteps = historyStatements(STATEMENTS).map(({ run }) => ({
  run: (w: Write, values: { id: number; countMax: number }) => runOn(w, run(values)),
}));

export const lockSlots = (w: Write, slots: readonly SlotRow[]): Promise<void> =>
  runOn(w, steps.lockSlots(slots));

export const endSlot = (
  w: Write,
  slot: SlotRow,
  why: Parameters<typeof steps.endSlot>[2],
): Promise<void> => runOn(w, steps.endSlot(w.notes, slot, why));

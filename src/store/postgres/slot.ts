/** Bridge to noun/slot.ts for nouns that are not written once yet. */

import type { Admission } from '../../core/slot.ts';
import type { DoorHere } from '../noun/door.ts';
import { slotSteps } from '../noun/slot.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import type { Write } from './write.ts';

const steps = slotSteps(STATEMENTS);

export const takeSlot = (
  w: Write,
  door: DoorHere,
  welcome: Admission,
  device: { deviceId: number; hwid: string },
  nowMs: number,
) => runOn(w, steps.takeSlot(w.notes, door, welcome, device, nowMs));

/** Bridge to noun/slot.ts for nouns that are not written once yet. */

import type { Admission } from '../../core/slot.ts';
import type { DoorHere } from '../noun/door.ts';
import { slotSteps } from '../noun/slot.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';

export function slotTaker({ db, notes }: Context) {
  const { takeSlot } = slotSteps(sqliteStatements(db));
  const take = (
    door: DoorHere,
    welcome: Admission,
    device: { deviceId: number; hwid: string },
    nowMs: number,
  ) => runNow(takeSlot(notes, door, welcome, device, nowMs));
  return { take };
}

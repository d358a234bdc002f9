/** Bridge to noun/door.ts for nouns that are not written once yet. */

import type { SlotKey } from '../../core/port/slot.ts';
import { doorSteps } from '../noun/door.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import type { Write } from './write.ts';

export type { DoorHere } from '../noun/door.ts';

const steps = doorSteps(STATEMENTS);

export const findDoorLocked = (w: Write, key: SlotKey) => runOn(w, steps.findDoorLocked(key));

/** Bridge to noun/door.ts for nouns that are not written once yet. */

import type { SlotKey } from '../../core/port/slot.ts';
import { doorSteps } from '../noun/door.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';

export type { DoorHere } from '../noun/door.ts';

export function doorOf({ db }: Context) {
  const { findDoor } = doorSteps(sqliteStatements(db));
  return (key: SlotKey) => runNow(findDoor(key));
}

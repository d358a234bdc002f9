/** The port's cursors: the keys of the last row that was read. */

import type { Cursor } from '../core/port/page.ts';

/** Makes a cursor of a position. */
export function cursorAt<Of extends Cursor<string>>(position: object): Of {
  return position as Of;
}

/** Returns the position of a cursor; null: the beginning. */
export function positionOf<Position extends object>(
  cursor: Cursor<string> | null,
  beginning: Position,
): Position {
  return cursor === null ? beginning : (cursor as unknown as Position);
}

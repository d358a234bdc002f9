/** The port's cursors as stores make them: keys of the row that was looked at last. */

import type { Cursor } from '../core/port/page.ts';

/** A cursor to go on behind `position`. */
export function cursorAt<Of extends Cursor<string>>(position: object): Of {
  return position as Of;
}

/** The position of a cursor that {@link cursorAt} made, or where a look begins. */
export function positionOf<Position extends object>(
  cursor: Cursor<string> | null,
  beginning: Position,
): Position {
  return cursor === null ? beginning : (cursor as unknown as Position);
}

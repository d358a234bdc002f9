/** The state of a task of upkeep, of which doctor, metrics, console and events say the same. */

import type { Upkeep, UpkeepTask } from './port/upkeep.ts';

/** Returns the record of a task; null: it is off, or did not run yet. */
export function upkeepOf(rows: readonly Upkeep[], task: UpkeepTask): Upkeep | null {
  return rows.find((row) => row.task === task && row.schedule !== '') ?? null;
}

/** Returns the last failure of a task, if it is not over; null: none. */
export const failureOf = (row: Upkeep | null) => (row?.isFailing ? row.failure : null);

/** The state of a task of upkeep, of which doctor, metrics, console and events say the same. */

import type { Upkeep, UpkeepTask } from './port/upkeep.ts';

/** Returns the record of a task; null: it is off, or did not run yet. */
export function upkeepOf(rows: readonly Upkeep[], task: UpkeepTask): Upkeep | null {
  return rows.find((row) => row.task === task && row.schedule !== '') ?? null;
}

/** Returns the last failure of a task, if it is not over; null: none. */
export const failureOf = (row: Upkeep | null) => (row?.isFailing ? row.failure : null);

/** Returns the newest known version if it is newer than `current`; null: none is known to be. */
export function newerVersion(rows: readonly Upkeep[], current: string): string | null {
  const found = upkeepOf(rows, 'release')?.success?.result;
  return found !== undefined && Bun.semver.order(found, current) > 0 ? found : null;
}

/** How far a step through a distribution's recipients goes. */

import { sql } from 'drizzle-orm';
import { prepare, type Runner, value } from './statement.ts';

/**
 * Recipients of a step. The first one of a pass is small: those first in line wait for it alone,
 * and most distributions have no more. Later ones are large, as a step holds up nobody who is not
 * at the same recipients, and each costs a commit.
 */
const FIRST_STEP_COUNT = 1_000;
const STEP_COUNT = 20_000;

/** The most recipients of the step behind `cursorId`. */
export const stepCount = (cursorId: number): number =>
  cursorId === 0 ? FIRST_STEP_COUNT : STEP_COUNT;

const next = prepare<{ toId: number | null; count: number }>(sql`
    SELECT max(device_id) AS "toId", count(*) AS count FROM (
      SELECT device_id FROM recipient
      WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
      ORDER BY device_id LIMIT ${value('countMax')}) run`);

/** Finds where the next recipients after `cursorId` end, a step's worth. */
export async function nextRun(
  on: Runner,
  id: number,
  cursorId: number,
): Promise<{ toId: number; isDone: boolean }> {
  const countMax = stepCount(cursorId);
  const found = await next.get(on, { id, cursorId, countMax });
  return { toId: found?.toId ?? cursorId, isDone: (found?.count ?? 0) < countMax };
}

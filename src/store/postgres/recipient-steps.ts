/** How far a step through a distribution's recipients goes. */

import { sql } from 'drizzle-orm';
import { systemClock } from '../../clock.ts';
import { prepare, type Runner, value } from './statement.ts';

/**
 * Recipients of a step. The first one of a pass is small: those first in line wait for it alone,
 * and most distributions have no more. Later ones are large, as a step holds up nobody who is not
 * at the same recipients, and each costs a commit.
 */
const FIRST_COUNT = 1_000;
const COUNT_MAX = 20_000;
/** Time that a large step is to take: well below a lease, and the time of a statement, ms. */
const STEP_MS = 500;

/** The most recipients of a step, by how long those before took. */
export class StepSize {
  #count = COUNT_MAX;

  countBehind(cursorId: number): number {
    return cursorId === 0 ? FIRST_COUNT : this.#count;
  }

  /** Takes a step's time into account. */
  async timed<T>(step: () => Promise<T>): Promise<T> {
    const beganMs = systemClock.steadyMs();
    const done = await step();
    const tookMs = systemClock.steadyMs() - beganMs;
    const wanted = tookMs > STEP_MS ? this.#count / 2 : this.#count * 1.25;
    this.#count = Math.round(Math.min(Math.max(wanted, FIRST_COUNT), COUNT_MAX));
    return done;
  }
}

const next = prepare<{ toId: number | null; count: number }>(sql`
    SELECT max(device_id) AS "toId", count(*) AS count FROM (
      SELECT device_id FROM recipient
      WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
      ORDER BY device_id LIMIT ${value('countMax')}) run`);

/** Finds where the next recipients after `cursorId` end, `countMax` of them. */
export async function nextRun(
  on: Runner,
  { id, cursorId, countMax }: { id: number; cursorId: number; countMax: number },
): Promise<{ toId: number; isDone: boolean }> {
  const found = await next.get(on, { id, cursorId, countMax });
  return { toId: found?.toId ?? cursorId, isDone: (found?.count ?? 0) < countMax };
}

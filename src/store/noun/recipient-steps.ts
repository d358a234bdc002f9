/** Steps through the recipients of a distribution. */

import { systemClock } from '../../base/clock.ts';
import type { Statements, Step } from '../backend.ts';
import { sql, values } from '../statement-text.ts';
import type { Run } from './push-queue.ts';
import { shared } from './shared.ts';

/** Recipients of the first step, which is small because the first devices wait for it. */
const FIRST_COUNT = 1_000;
/** Target time of a large step, ms: well below a lease and the timeout of a statement. */
const STEP_MS = 500;

/** The most recipients of a step, by the time that earlier ones took. */
export class StepSize {
  readonly #countMax: number;
  #count: number;

  constructor({ stepCountMax }: Statements) {
    this.#countMax = stepCountMax;
    this.#count = stepCountMax;
  }

  countBehind(cursorId: number): number {
    return cursorId === 0 ? FIRST_COUNT : this.#count;
  }

  /** Runs a step and takes its time into account. */
  async timed<T>(step: () => Promise<T>): Promise<T> {
    const beganMs = systemClock.steadyMs();
    const done = await step();
    const tookMs = systemClock.steadyMs() - beganMs;
    const wanted = tookMs > STEP_MS ? this.#count / 2 : this.#count * 1.25;
    this.#count = Math.round(Math.min(Math.max(wanted, FIRST_COUNT), this.#countMax));
    return done;
  }
}

/** Returns the step that finds a run of at most `countMax` recipients after `cursorId`. */
export const recipientRuns = shared(({ prepare }: Statements) => {
  const next = prepare(sql`
      SELECT ${values<{ toId: number | null; count: number }>({
        toId: sql`max(device_id)`,
        count: sql`count(*)`,
      })} FROM (
        SELECT device_id FROM recipient WHERE distribution_id = :id AND device_id > :cursorId
        ORDER BY device_id LIMIT :countMax) run`);
  return function* (
    id: number,
    cursorId: number,
    countMax: number,
  ): Step<{ run: Run; isDone: boolean }> {
    const found = yield* next.get({ id, cursorId, countMax });
    const run = { id, cursorId, toId: found?.toId ?? cursorId };
    return { run, isDone: (found?.count ?? 0) < countMax };
  };
});

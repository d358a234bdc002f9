/** Lets hours pass at a provider: all times that rides depend on move into the past, at once. */

import type { Beside } from './beside.ts';
import type { SentMessage } from './ride-model.ts';
import type { Call } from './slot-history.ts';

/**
 * Longer than commands wait (10 minutes) and than the time between two general notifications. A
 * run of up to four minutes crosses no bound of rides by itself, as none is a multiple of it.
 */
export const SHIFT_MS = 11 * 60_000;
/** Shifts after which a message has ridden for an hour: the sixth, for commands the seventh. */
const SHIFTS_PER_HOUR = 6;

const ATTEMPTS_MAX = 20;

/** Moves the times; another process may hold what it needs, so that it tries again. */
export async function letTimePass(db: Beside, providerCode: string): Promise<Call> {
  const startMs = Date.now();
  for (let attempt = 1; ; attempt++) {
    try {
      move(db, providerCode);
      return { startMs, endMs: Date.now() };
    } catch (problem) {
      if (attempt === ATTEMPTS_MAX) throw problem;
      await Bun.sleep(5 * attempt);
    }
  }
}

/** Rows are locked in the order in which the program locks them: the provider first. */
function move(db: Beside, code: string): void {
  db.transaction(() => {
    const own = `provider_id = (SELECT id FROM provider WHERE code = '${code}')`;
    db.run(
      `UPDATE provider SET ride_version = ride_version + 1,
         ride_until_ms = ride_until_ms - ${SHIFT_MS},
         last_general_at_ms = last_general_at_ms - ${SHIFT_MS} WHERE code = '${code}'`,
    );
    db.run(
      `UPDATE install_device SET registered_at_ms = registered_at_ms - ${SHIFT_MS} WHERE ${own}`,
    );
    db.run(
      `UPDATE device_provider SET ride_until_ms = ride_until_ms - ${SHIFT_MS}
       WHERE ride_until_ms > 0 AND ${own}`,
    );
    db.run(
      `UPDATE distribution SET created_at_ms = created_at_ms - ${SHIFT_MS},
         due_at_ms = due_at_ms - ${SHIFT_MS}, expires_at_ms = expires_at_ms - ${SHIFT_MS}
       WHERE ${own}`,
    );
    db.run(
      `UPDATE ride SET from_ms = from_ms - ${SHIFT_MS}, until_ms = until_ms - ${SHIFT_MS}
       WHERE ${own}`,
    );
  })();
}

/** Tells a message what followed from the shifts of its provider, in their order. */
export function age(message: SentMessage, shifts: readonly Call[]): void {
  const { isCommand, isScheduled, sent } = message;
  const after = shifts.filter(({ startMs }) => startMs >= sent.startMs);
  const loaded = shifts.filter(({ startMs }) => startMs >= message.loadedMs);
  const never = Number.POSITIVE_INFINITY;
  if (isCommand || isScheduled) message.mayBeginMs = after[0]?.startMs ?? never;
  message.ridesMs = isCommand ? (loaded[0]?.endMs ?? never) : message.loadedMs;
  const hours = isCommand ? SHIFTS_PER_HOUR + 1 : SHIFTS_PER_HOUR;
  message.mayEndMs = Math.min(message.mayEndMs, after[hours - 1]?.startMs ?? never);
  // One more: the worker may have read the clock before a shift, and written after it.
  message.endedMs = Math.min(message.endedMs, loaded[hours]?.endMs ?? never);
}

/** Opens a database; waits for a server that is starting. */

import { systemClock } from '../../base/clock.ts';
import { messageOf, OperatorError } from '../../base/operator-error.ts';
import { StoreAway } from '../../core/port/store.ts';
import type { StoreOptions } from '../kind.ts';
import type { DatabaseOptions } from './database-options.ts';
import { isCrowded, isLost, isUnanswered, isUntrusted } from './fault.ts';

/** Time for which an attempt is repeated, ms. */
const PATIENCE_MS = 5_000;
/** Pause between two attempts, ms. */
const PAUSE_MS = 200;

/** Runs `open` until the server answers: some seconds, or until `waiting`'s signal; then throws. */
export async function openPatiently<T>(
  place: DatabaseOptions,
  open: () => Promise<T>,
  waiting?: StoreOptions['waiting'],
): Promise<T> {
  const untilMs = systemClock.steadyMs() + PATIENCE_MS;
  let isReported = false;
  for (;;) {
    try {
      return await open();
    } catch (fault) {
      const isLate = systemClock.steadyMs() > untilMs;
      const isOver = waiting === undefined ? isLate : waiting.signal.aborted;
      if (!isAway(fault) || isUntrusted(fault) || isOver) throw explained(place, fault);
      if (isLate && !isReported) waiting?.onWaiting(messageOf(fault));
      isReported = isLate;
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

const isAway = (fault: unknown) =>
  fault instanceof StoreAway || isLost(fault) || isUnanswered(fault) || isCrowded(fault);

/** Turns an error into a sentence for the operator. */
function explained({ host, port, socket }: DatabaseOptions, fault: unknown): unknown {
  const isOfDatabase = fault instanceof Bun.SQL.PostgresError || fault instanceof StoreAway;
  if (!isOfDatabase && !isUntrusted(fault)) return fault;
  const where = socket === null ? `${host}:${port}` : `${socket} (port ${port})`;
  const does = isAway(fault) && !isUntrusted(fault) ? 'does not answer' : 'refuses';
  return new OperatorError(`PostgreSQL at ${where} ${does}: ${messageOf(fault)}`);
}

/** The first words with a database: a server that is on its way is waited for, for some seconds. */

import { SQL } from 'bun';
import { systemClock } from '../../clock.ts';
import { StoreAway } from '../../core/port/store.ts';
import { messageOf, OperatorError } from '../../operator-error.ts';
import type { DatabaseOptions } from './database-options.ts';
import { isLost, isRefusedBefore, isUntrusted } from './fault.ts';

/** Time for which a database that does not answer yet is asked again, ms. */
const PATIENCE_MS = 5_000;
/** Pause between two attempts, ms. */
const PAUSE_MS = 200;

/**
 * Runs `open`, again while there is no connection to be had. Throws `OperatorError` with the reason
 * when it cannot.
 */
export async function openPatiently<T>(place: DatabaseOptions, open: () => Promise<T>): Promise<T> {
  const untilMs = systemClock.steadyMs() + PATIENCE_MS;
  for (;;) {
    try {
      return await open();
    } catch (fault) {
      if (!isAway(fault) || isUntrusted(fault)) throw explained(place, fault);
      if (systemClock.steadyMs() > untilMs) throw explained(place, fault);
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

const isAway = (fault: unknown) =>
  fault instanceof StoreAway || isLost(fault) || isRefusedBefore(fault);

/** The fault as the operator is to read it. */
function explained({ host, port, socket }: DatabaseOptions, fault: unknown): unknown {
  const isOfDatabase = fault instanceof SQL.PostgresError || fault instanceof StoreAway;
  if (!isOfDatabase && !isUntrusted(fault)) return fault;
  const where = socket === null ? `${host}:${port}` : `${socket} (port ${port})`;
  const does = isAway(fault) && !isUntrusted(fault) ? 'does not answer' : 'refuses';
  return new OperatorError(`PostgreSQL at ${where} ${does}: ${messageOf(fault)}`);
}

/**
 * The end of a running appliance: in order and in time, also if one of its parts fails or hangs.
 */

import { type Log, reasonOf } from './log.ts';

export interface Part {
  name: string;
  /** Takes nothing new from the moment of the call; settles when the work under way has ended. */
  stop(): Promise<void>;
}

/** Time that the parts have for the work under way, ms. */
export const PATIENCE_MS = 5_000;
/** Time that the answers about last writes have to reach their callers, ms. */
const LAST_ANSWERS_MS = 500;

/**
 * Stops `parts` side by side, then `last` one after the other, whatever became of them: the store
 * is closed in any case. Takes at most `patienceMs` and a little; late parts and failures are
 * logged. Never throws.
 */
export async function stopInOrder(
  parts: readonly Part[],
  last: readonly Part[],
  log: Log,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const late = new Set(parts.map(({ name }) => name));
  const end = async ({ name, stop }: Part): Promise<void> => {
    try {
      await stop();
    } catch (fault) {
      log.error('stop_fault', { part: name, reason: reasonOf(fault) });
    }
    late.delete(name);
  };
  const ended = Promise.all(parts.map(end));
  await within(patienceMs, ended);
  if (late.size > 0) log.warn('stop_late', { parts: [...late].join(',') });
  for (const part of last) await end(part);
  // Callers who waited for another process's lock were refused just now: their answers go out.
  if (late.size > 0) await within(LAST_ANSWERS_MS, ended);
}

/** Waits for a promise that does not reject, but no longer than `ms`. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, tooLong]);
  clearTimeout(timer);
}

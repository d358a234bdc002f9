/** Drains the server, and stops its parts in order and in time, also if one fails or hangs. */

import { systemClock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';

export interface Part {
  name: string;
  /** Accepts no new work; settles when the running work has ended. */
  stop(): Promise<void>;
}

/** Time for running work, ms. */
const PATIENCE_MS = 5_000;
/** Time for the answers of the last writes, ms. */
const LAST_ANSWERS_MS = 500;

/**
 * Stops `parts` at the same time, for up to `patienceMs`, then `last` in order: the store is closed
 * in any case. Logs late parts and failures. Never throws.
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
  // Callers that waited for a lock of another process were just refused: send their answers.
  if (late.size > 0) await within(LAST_ANSWERS_MS, ended);
}

interface Draining {
  settings: { readonly drainSeconds: number };
  log: Log;
  readiness: { stopping(): void };
  server: { drain(): void };
}

/** Keeps serving, but not ready, for `server.drain_seconds`; `signal` ends it early. */
export async function drain(
  { settings, log, readiness, server }: Draining,
  signal: AbortSignal,
): Promise<void> {
  const seconds = settings.drainSeconds;
  if (seconds === 0) return;
  readiness.stopping();
  log.info('draining', { seconds });
  server.drain();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
  await Promise.race([systemClock.sleep(seconds * 1_000), aborted]);
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

import { readFileSync } from 'node:fs';

/** The source of the time: read once per request or tick, then passed on as a number. */
export interface Clock {
  /** UTC, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds of a clock that is never set back, for durations. */
  steadyMs(): number;
  /** Waits for `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/**
 * Milliseconds since the start of the machine by CLOCK_BOOTTIME: no setting of the time moves it,
 * and it counts the time of a suspended machine, which `steadyMs` leaves out. Exact to 10 ms.
 */
export function bootMs(): number {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1000;
  } catch {
    return performance.now();
  }
}

/** The source of the time: read once per request or tick, then passed on as a number. */
export interface Clock {
  /** UTC, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds since some moment, for durations: it is never set back. */
  steadyMs(): number;
  /** Settles after `ms` milliseconds, holding nothing but a timer. */
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

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

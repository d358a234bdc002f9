/** Where the time comes from: read once per request or tick, then passed on as a number. */
export interface Clock {
  /** UTC, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Settles after `ms` milliseconds, holding nothing but a timer. */
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

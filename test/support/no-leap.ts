/** The guard of a clock that never leaps. */

export const noLeap = (atMs: number): number => atMs;

/** What jobs ask, by a clock. */
export const noLeapKeeper = (clock: { nowMs(): number }) => ({
  ageMs: () => clock.nowMs(),
  keep: async () => undefined,
});

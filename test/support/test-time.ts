/** Time enough for any test on a busy machine, unless it says otherwise, ms. */
export const TEST_MS_MAX = 240_000;

/** Random runs of a model, as many as fit into a time, but never fewer than a minimum. */

import fc from 'fast-check';
import { IS_LONG } from './scale.ts';

interface ModelSize {
  /** The runs that a slow machine must manage, too. */
  runsMin: number;
  runsMax: number;
  /** The time after which no run begins, if there were enough. */
  seconds: number;
}

/** `make test-long` has so many times the runs and the time. */
const LONG_FACTOR = 20;

/** Plays random inputs; fails with the smallest one that `play` rejects. */
export async function playModel<T>(
  arbitrary: fc.Arbitrary<T>,
  play: (input: T) => Promise<void>,
  { runsMin, runsMax, seconds }: ModelSize,
): Promise<void> {
  const factor = IS_LONG ? LONG_FACTOR : 1;
  const endMs = performance.now() + seconds * factor * 1000;
  let runs = 0;
  let hasFailed = false;
  await fc.assert(
    fc.asyncProperty(arbitrary, async (input) => {
      // After a failure the runs look for a smaller input, however long it takes.
      if (!hasFailed && runs >= runsMin && performance.now() > endMs) return;
      runs += 1;
      try {
        await play(input);
      } catch (fault) {
        hasFailed = true;
        throw fault;
      }
    }),
    { numRuns: runsMax * factor },
  );
}

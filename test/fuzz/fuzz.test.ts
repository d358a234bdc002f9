/**
 * A short run of the fuzzer: FUZZ_SECONDS (6) long, FUZZ_SEED otherwise; `make fuzz` runs it as
 * long as wanted.
 */

import { expect, test } from 'bun:test';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';
import { fuzz } from './fuzz.ts';

const SECONDS = scaleOf('FUZZ_SECONDS', { short: 6, long: 300 });
const SEED = Number(process.env['FUZZ_SEED'] ?? 8);

useProcesses(SECONDS * 1000 + 4 * PATIENCE_MS);

test(`${SECONDS} s of odd requests, frames, files and commands, seed ${SEED}`, async () => {
  const { faults, counts, answers } = await fuzz({ seconds: SECONDS, seed: SEED, rate: 400 });
  expect(faults).toEqual([]);
  expect([...counts.keys()].sort()).toEqual(['commands', 'files', 'requests', 'streams']);
  // Cases get further than the first check.
  expect(answers.get('Ok')).toBeGreaterThan(0);
  expect(answers.size).toBeGreaterThan(2 * Math.min(SECONDS, 10));
});

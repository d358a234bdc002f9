/** Tests that need programs of the machine, which a clean one may lack. */

import { describe, test } from 'bun:test';
import { noPostgres } from './postgres.ts';

/** `test` if all these programs are there; else one that skips, and a line that says why. */
export function testWith(...programs: string[]): ReturnType<typeof test.skipIf> {
  const missing = programs.filter((program) => Bun.which(program) === null);
  if (missing.length > 0) console.warn(`Tests are skipped: there is no ${missing.join(', no ')}.`);
  return test.skipIf(missing.length > 0);
}

if (noPostgres !== null) {
  // Where submissions are judged, a test that did not run is one that failed.
  if (process.env['CI'] === 'true') throw new Error(noPostgres);
  console.warn(`Tests are skipped: ${noPostgres}.`);
}

/** `describe` for what needs a PostgreSQL; skipped where there is none. */
export const describePostgres = describe.skipIf(noPostgres !== null);
/** `test` for what needs one. */
export const testPostgres = test.skipIf(noPostgres !== null);

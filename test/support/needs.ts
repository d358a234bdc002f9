/** Tests that need programs of the machine, which a clean one may lack. */

import { test } from 'bun:test';

/** `test` if all these programs are there; else one that skips, and a line that says why. */
export function testWith(...programs: string[]): ReturnType<typeof test.skipIf> {
  const missing = programs.filter((program) => Bun.which(program) === null);
  if (missing.length > 0) console.warn(`Tests are skipped: there is no ${missing.join(', no ')}.`);
  return test.skipIf(missing.length > 0);
}

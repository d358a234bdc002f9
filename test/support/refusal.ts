/** Refusals of the core as tests look into them. */

import { expect } from 'bun:test';
import { Refused } from '../../src/core/outcome.ts';

/** The detail of a refusal as malformed, which a response header must be able to carry. */
export function misfitOf(outcome: unknown): string {
  if (!isMisfit(outcome)) throw new Error(`not malformed: ${JSON.stringify(outcome)}`);
  expect(outcome.detail).toMatch(/^[\x20-\x7e]{1,250}$/);
  return outcome.detail;
}

export function isMisfit(outcome: unknown): outcome is Refused<'malformed'> & { detail: string } {
  return outcome instanceof Refused && outcome.says === 'malformed' && outcome.detail !== undefined;
}

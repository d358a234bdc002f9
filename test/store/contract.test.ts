/** The parts of the store's contract are all tested, each method in one of them. */

import { expect, test } from 'bun:test';
import { isThere } from '../support/tree.ts';
import { PARTS, SUITES } from './contract.ts';

test('each part has a test file', () => {
  const files = Object.keys(PARTS).map((part) => `test/store/contract/${part}.test.ts`);
  expect(files.filter((file) => !isThere(file))).toEqual([]);
});

test('each method is in one part', () => {
  const methods = Object.values(PARTS).flatMap((suites) => Object.keys(suites));
  expect(methods.sort()).toEqual(Object.keys(SUITES).sort());
});

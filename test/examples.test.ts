/** The examples in the heads of functions are true: `@example call(…) // what it returns`. */

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { committedFiles, ROOT, readText } from './support/tree.ts';

const EXAMPLE = /^ \* @example (\w+\(.*\)) \/\/ (.+)$/gm;

const EXAMPLES = committedFiles()
  .filter((path) => /^src\/(?!console\/).*\.ts$/.test(path))
  .flatMap((path) =>
    [...readText(path).matchAll(EXAMPLE)].map(([, call = '', returned = '']) => ({
      path,
      call,
      returned,
    })),
  );

test.each(EXAMPLES)('$path: $call', async ({ path, call, returned }) => {
  const names = Object.entries(await import(join(ROOT, path)));
  const value = (text: string) =>
    new Function(...names.map(([name]) => name), `return ${text}`)(...names.map(([, one]) => one));
  expect(value(call)).toEqual(value(returned));
});

test('there are examples', () => {
  expect(EXAMPLES.length).toBeGreaterThan(20);
});

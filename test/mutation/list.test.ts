/** The list of mutations matches the sources, and each folder of src has one. */

import { expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { committedFiles, isThere, readText } from '../support/tree.ts';
import { mutatedFiles } from './list/index.ts';

test('each text is in its file exactly once, and becomes another', () => {
  const wrong = mutatedFiles.flatMap(({ file, changes }) => {
    const source = readText(file);
    return changes
      .filter(([text, replacement]) => source.split(text).length !== 2 || text === replacement)
      .map(([text]) => `${file}: ${text}`);
  });
  expect(wrong).toEqual([]);
});

test('each change is there once, with tests that are there', () => {
  const changes = mutatedFiles.flatMap(({ file, changes }) =>
    changes.map((change) => JSON.stringify([file, ...change])),
  );
  expect(new Set(changes).size).toBe(changes.length);
  expect(mutatedFiles.flatMap(({ tests }) => tests).filter((path) => !isThere(path))).toEqual([]);
});

test('each folder of src has a mutation', () => {
  const sources = committedFiles().filter((path) => /^src\/.*(?<!\.d)\.tsx?$/.test(path));
  const mutated = new Set(mutatedFiles.map(({ file }) => dirname(file)));
  const without = new Set(sources.map(dirname).filter((folder) => !mutated.has(folder)));
  expect([...without].sort()).toEqual([]);
});

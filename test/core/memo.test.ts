import { expect, test } from 'bun:test';
import { remembering } from '../../src/core/memo.ts';

/** A memory of two texts, and how often it made something of one. */
function memory() {
  const made: string[] = [];
  const find = remembering(2, (text) => {
    made.push(text);
    return text.length;
  });
  return { find, made };
}

test('makes something of a text once, until one too many came', () => {
  const { find, made } = memory();
  expect(['a', 'b', 'a', 'c', 'a'].map(find)).toEqual([1, 1, 1, 1, 1]);
  expect(made).toEqual(['a', 'b', 'c', 'a']);
});

test('remembers no long text', () => {
  const { find, made } = memory();
  const long = 'x'.repeat(257);
  expect([long, long, 'x'.repeat(256), 'x'.repeat(256)].map(find)).toEqual([257, 257, 256, 256]);
  expect(made.map(({ length }) => length)).toEqual([257, 257, 256]);
});

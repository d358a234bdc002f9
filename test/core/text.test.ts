import { describe, expect, test } from 'bun:test';
import { NOTE } from '../../src/core/formats.ts';
import { tidyFact, tidyNote } from '../../src/core/text.ts';

describe('a note', () => {
  test.each([
    ['nothing', ''],
    ['255 letters', 'n'.repeat(255)],
    ['255 characters outside the basic plane', '😀'.repeat(255)],
    ['a family of code points', '👨‍👩‍👧'],
    ['blanks and a no-break space', ' \u00a0 '],
    ['text from right to left', 'یادداشت'],
  ])('may be %s', (_, text) => {
    expect(NOTE.pattern.test(text)).toBe(true);
  });

  test.each([
    ['256 letters', 'n'.repeat(256)],
    ['256 characters outside the basic plane', '😀'.repeat(256)],
    ['a line break at the end', 'note\n'],
    ['a carriage return', 'a\rb'],
    ['a tab', 'a\tb'],
    ['NUL', 'a\0b'],
    ['DEL', 'a\x7fb'],
    ['a C1 control', 'a\x9bb'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['what was not UTF-8', 'a\ufffdb'],
  ])('may not be %s', (_, text) => {
    expect(NOTE.pattern.test(text)).toBe(false);
  });
});

describe('a fact', () => {
  test.each([
    ['stays as it is', 'Pixel 9', 'Pixel 9'],
    ['is trimmed', '  Pixel\u00a0', 'Pixel'],
    ['becomes one line', 'a\r\nb\0c\u2028d', 'a b c d'],
    ['of control characters alone is silence', '\n\0\x1b', ''],
    ['is cut', 'abcdefghijkl', 'abcdefghij'],
    ['is cut between code points', '😀'.repeat(11), '😀'.repeat(10)],
    ['of ten code points is whole', '😀'.repeat(10), '😀'.repeat(10)],
  ])('%s', (_, said, kept) => {
    expect(tidyFact(said, 10)).toBe(kept);
  });
});

describe('a note as it came', () => {
  test.each([
    ['nothing to mend', 'spring offer 😀', 'spring offer 😀'],
    ['line breaks', 'one\r\ntwo\nthree', 'one  two three'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'a b c'],
    ['a tab, NUL, DEL and a C1 control', 'a\tb\0c\x7fd\x9be', 'a b c d e'],
  ])('has blanks for control characters: %s', (_, text, kept) => {
    expect(tidyNote(text)).toBe(kept);
    expect(NOTE.pattern.test(tidyNote(text))).toBe(true);
  });
});

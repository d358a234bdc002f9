/** The words of the cases: values in braces, patterns in angle brackets. */

import { describe, expect, test } from 'bun:test';
import { Words } from '../../src/conformance/words.ts';

/** 2026-11-20 23:50 in UTC+3. */
const NOW_MS = Date.UTC(2026, 10, 20, 20, 50);
const words = () => new Words(NOW_MS, { link: { id: '<id>', status: 10 } });

test('values: drawn once, repeated, of a time, with their types', () => {
  const own = words();
  own.values.set('id', 7);
  expect(own.fill({ a: '{id}', b: ['x{id}'], c: null })).toEqual({ a: 7, b: ['x7'], c: null });
  expect(own.fill('{code}')).toMatch(/^[A-Za-z0-9]{12}$/);
  expect(own.fill('{code}')).toBe(own.fill('{code}'));
  expect(own.fill('{code2}')).not.toBe(own.fill('{code}'));
  expect(own.fill('<b>{н*3}</b>')).toBe('<b>ннн</b>');
  expect(own.fill('{date+20} {time+20}')).toBe('2026-11-21 00:10');
  expect(own.fill('{"a":{}}')).toBe('{"a":{}}');
  expect(() => own.fill('{nothing}')).toThrow('there is no value {nothing}');
});

describe('patterns', () => {
  test.each([
    ['<id>', 1, 0],
    ['<count>', 0, '0'],
    ['<limit>', 100, 101],
    ['<time>', '2026-11-20 12:00:00', '2026-11-20T12:00:00'],
    ['<code>', 'LinkCode0001', 'LinkCode001'],
    ['<note>', null, 'x'.repeat(256)],
    ['<in 5 10>', 5, '5'],
    ['<in "ios" null>', null, 'null'],
    ['<json>', 'application/json; charset=utf-8', 'application/jsonp'],
    ['<sentence>', 'a b', 'a\nb'],
    [
      ['<each>', '<id>'],
      [1, 2],
      [1, 0],
    ],
    [['<each>', '<id>'], [], {}],
    [['<first>', 1], [1, 2], []],
    [
      [1, 2],
      [1, 2],
      [1, 2, 3],
    ],
    [
      { '<like>': 'link', status: 5 },
      { id: 1, status: 5 },
      { id: 1, status: 10 },
    ],
    [{ '<like>': 'link' }, { id: 1, status: 10 }, { id: 1 }],
    [{ a: 1 }, { a: 1 }, { a: 1, b: 2 }],
    [1, 1, '1'],
    [null, null, undefined],
  ])('%j fits %j, and not %j', (expected, right, wrong) => {
    expect(words().compare(expected, right, 'body')).toBeNull();
    expect(words().compare(expected, wrong, 'body')).not.toBeNull();
  });

  test('a field too many is named', () => {
    expect(words().compare({ a: 1 }, { a: 1, b: 2 }, 'body')).toEqual({
      path: 'body.b',
      expected: 'no such field',
      got: 2,
    });
  });

  test('a value is kept for later, and what is no pattern is a text', () => {
    const own = words();
    expect(own.compare({ id: '<id:link>' }, { id: 9 }, 'body')).toBeNull();
    expect(own.compare({ id: '{link}' }, { id: 8 }, 'body')).toEqual({
      path: 'body.id',
      expected: 9,
      got: 8,
    });
    expect(own.compare('<b>', '<b>', 'body')).toBeNull();
  });
});

import { describe, expect, test } from 'bun:test';
import {
  DOMAIN_HASH,
  derivedFrom,
  derivedHwid,
  HWID,
  INSTALL_CODE,
  INSTALL_LIMIT,
  INSTALL_STATUS,
  NOTE,
  PLAN,
  RECORD_ID,
} from '../../src/core/formats.ts';
import { misfitOf } from '../support/refusal.ts';

/** Each format with values that it reads, as what, and values that it refuses. */
const FORMATS = [
  ['a HWID', HWID, [['a', 'a']], ['', 'a,b', 'я', 'x'.repeat(129), 5, null, ['a']]],
  ['a code', INSTALL_CODE, [['ABCDEFG8', 'ABCDEFG8']], ['ABCDEF7', 'A'.repeat(13), 12345678]],
  ['a hash', DOMAIN_HASH, [['0'.repeat(64), '0'.repeat(64)]], ['A'.repeat(64), '0'.repeat(63)]],
  ['a note', NOTE, [['', '']], ['a\nb', 'half \ud83d', '\ufffd', 'x'.repeat(256), null]],
  [
    'a limit',
    INSTALL_LIMIT,
    [
      [1, 1],
      ['100', 100],
    ],
    [0, 101, '1e1', '', 1.5, null, [1]],
  ],
  [
    'a status',
    INSTALL_STATUS,
    [
      [5, 5],
      ['10', 10],
    ],
    [0, 6, '05x', '', null, true],
  ],
  ['a plan', PLAN, [['pro', 'pro']], ['Pro', '', 5, null]],
  [
    'an id',
    RECORD_ID,
    [
      [0, 0],
      ['7', 7],
    ],
    [-1, 1e15, '-1', ' 7', null],
  ],
] as const;

describe.each(FORMATS)('%s', (_name, format, good, bad) => {
  test('is read as it is kept', () => {
    for (const [value, read] of good) expect(format.read(value) as unknown).toBe(read);
  });

  test('is refused with its rule, by one refusal', () => {
    for (const value of bad) expect(misfitOf(format.read(value))).toBe(`must be ${format.rule}`);
    expect(format.read(bad[0])).toBe(format.read(bad[1]));
  });
});

test('the HWID of a further phone has its number, and is a HWID', () => {
  expect(derivedHwid('x', 2)).toBe('x~2');
  expect(derivedHwid('x'.repeat(126), 2)).toHaveLength(128);
  expect(derivedHwid('x'.repeat(127), 2)).toBeNull();
  expect(derivedFrom('x~2')).toEqual({ base: 'x', number: 2 });
  expect(derivedFrom('a~2~10')).toEqual({ base: 'a~2', number: 10 });
  for (const hwid of ['x', 'x~', 'x~1', 'x~02', '~2', 'x~100', 'x~2a']) {
    expect(derivedFrom(hwid)).toBeNull();
  }
});

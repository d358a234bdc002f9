/** `subscription-userinfo` in the spellings that panels send. */

import { describe, expect, test } from 'bun:test';
import { type Figures, figuresIn, figuresMoved } from '../../src/core/subscription-figures.ts';

const NOW_MS = Date.UTC(2026, 10, 29);
const END_S = 1_766_000_000 + 365 * 86_400;
const END_MS = END_S * 1_000;
const GB = 1024 ** 3;

const WHOLE: Figures = { endsAtMs: END_MS, totalBytes: 10 * GB, usedBytes: 3 * GB };

describe('the same figures in every spelling', () => {
  const ends = { upload: `${GB}`, download: `${2 * GB}`, total: `${10 * GB}`, expire: `${END_S}` };
  const join = (parts: object, between: string, is = '=') =>
    Object.entries(parts)
      .map(([name, value]) => `${name}${is}${value}`)
      .join(between);
  const upside = Object.fromEntries(Object.entries(ends).toReversed());
  const spellings: Record<string, string> = {
    'as documented': join(ends, '; '),
    'no blanks': join(ends, ';'),
    'blanks around each sign': ` ${join(ends, '  ;  ', ' = ')} ; `,
    'another order': join(upside, '; '),
    'upper case': join(ends, '; ').toUpperCase(),
    commas: join(ends, ', '),
    'an end in milliseconds': join({ ...ends, expire: END_MS }, '; '),
    'an end with a fraction': join({ ...ends, expire: `${END_S}.0` }, '; '),
    'an end as a date': join({ ...ends, expire: new Date(END_MS).toISOString() }, '; '),
    'a date as Python prints it': join(
      { ...ends, expire: new Date(END_MS).toISOString().slice(0, 19).replace('T', ' ') },
      '; ',
    ),
    'fractions of bytes': join({ ...ends, upload: `${GB}.25`, total: `${10 * GB}.5` }, '; '),
    'an exponent': join({ ...ends, total: '1.073741824e10' }, '; '),
    quotes: join({ ...ends, expire: `"${END_S}"` }, '; '),
    'unknown parts': `plan_name=Gold; ${join(ends, '; ')}; reset_day=3`,
  };
  for (const [name, header] of Object.entries(spellings)) {
    test(name, () => expect(figuresIn(header, NOW_MS)).toEqual(WHOLE));
  }
});

describe('parts that are absent or can not be', () => {
  const cases: [header: string, figures: Partial<Figures> | null][] = [
    ['', null],
    ['nothing', null],
    ['plan_name=Gold', null],
    ['upload=0; download=0; total=0; expire=0', { usedBytes: 0 }],
    ['upload=5', { usedBytes: 5 }],
    ['download=7; total=9', { usedBytes: 7, totalBytes: 9 }],
    [`expire=${END_S}`, { endsAtMs: END_MS }],
    ['expire=', {}],
    ['expire=null; total=None; upload=NaN; download=Infinity', {}],
    ['upload=-1; download=-2; total=-3; expire=-4', {}],
    ['total=99999999999999999999999; upload=1e40', {}],
    // 1970, the seconds of 2019, 2199, the year 9999 in milliseconds.
    ['expire=1', {}],
    ['expire=1577836799', {}],
    ['expire=7226582400', {}],
    ['expire=253402300799000', {}],
    ['expire=2026-13-45', {}],
    ['expire=1 Jan 2027', {}],
  ];
  for (const [header, figures] of cases) {
    const none = { endsAtMs: null, totalBytes: null, usedBytes: null };
    test(`"${header}"`, () => {
      expect(figuresIn(header, NOW_MS)).toEqual(figures && { ...none, ...figures });
    });
  }

  test('the last of equal names counts, and a long header is read to its bound', () => {
    expect(figuresIn('upload=1; upload=2', NOW_MS)?.usedBytes).toBe(2);
    expect(figuresIn(`${'x=1;'.repeat(100_000)}upload=2`, NOW_MS)).toBeNull();
  });
});

describe('what moved', () => {
  const moved = (change: Partial<Figures>) => figuresMoved(WHOLE, { ...WHOLE, ...change });

  test('an end, a total and a tenth of the traffic', () => {
    expect(moved({})).toBe(false);
    expect(moved({ endsAtMs: END_MS + 1_000 })).toBe(true);
    expect(moved({ endsAtMs: null })).toBe(true);
    expect(moved({ totalBytes: 20 * GB })).toBe(true);
    expect(moved({ usedBytes: 3.9 * GB })).toBe(false);
    expect(moved({ usedBytes: 4 * GB })).toBe(true);
    expect(moved({ usedBytes: null })).toBe(true);
  });

  test('traffic without a total moves nothing', () => {
    const open = { ...WHOLE, totalBytes: null };
    expect(figuresMoved(open, { ...open, usedBytes: 9 * GB })).toBe(false);
  });
});

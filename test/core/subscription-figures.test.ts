/** `subscription-userinfo` in the spellings that panels send. */

import { describe, expect, test } from 'bun:test';
import type { Figures, KeptFigures } from '../../src/core/port/subscription-figures.ts';
import { afterRead, figuresIn } from '../../src/core/subscription-figures.ts';

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

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Reads figures of one link in turn; returns the times of writes and of renewals. */
function read(reads: readonly (readonly [afterMs: number, figures: Partial<Figures>])[]) {
  let kept: KeptFigures | null = null;
  const writes: number[] = [];
  const renewals: number[] = [];
  for (const [afterMs, figures] of reads) {
    const after = afterRead(kept, { ...WHOLE, ...figures }, 'proxy', NOW_MS + afterMs);
    if (after === null) continue;
    kept = after.figures;
    writes.push(afterMs);
    if (after.isRenewed) renewals.push(afterMs);
  }
  return { kept: kept as KeptFigures | null, writes, renewals };
}

describe('a read writes', () => {
  const after = (ms: number, change: Partial<Figures>) =>
    read([
      [0, {}],
      [ms, change],
    ]).writes.length === 2;

  test('an end, a total and a tenth of the traffic that moved', () => {
    expect(after(HOUR_MS, {})).toBe(false);
    expect(after(HOUR_MS, { endsAtMs: END_MS + DAY_MS })).toBe(true);
    expect(after(HOUR_MS, { endsAtMs: null })).toBe(true);
    expect(after(HOUR_MS, { totalBytes: 20 * GB })).toBe(true);
    expect(after(HOUR_MS, { usedBytes: 3.9 * GB })).toBe(false);
    expect(after(HOUR_MS, { usedBytes: 4 * GB })).toBe(true);
    expect(after(HOUR_MS, { usedBytes: null })).toBe(true);
  });

  test('the UTC day', () => {
    expect(after(23 * HOUR_MS, {})).toBe(false);
    expect(after(24 * HOUR_MS, {})).toBe(true);
  });

  test('nothing that a panel rounds', () => {
    expect(after(HOUR_MS, { endsAtMs: END_MS + 1_000 })).toBe(false);
    expect(after(HOUR_MS, { totalBytes: 10 * GB + 1, usedBytes: 3.5 * GB })).toBe(false);
  });

  test('what a payment moves, however soon after the read that led to it', () => {
    const soon = 2 * MINUTE_MS;
    expect(after(soon, { endsAtMs: END_MS + 30 * DAY_MS })).toBe(true);
    expect(after(soon, { totalBytes: 20 * GB })).toBe(true);
    expect(after(soon, { usedBytes: 0 })).toBe(true);
    expect(after(soon, { endsAtMs: END_MS - 30 * DAY_MS })).toBe(false);
    expect(after(soon, { usedBytes: 4 * GB })).toBe(false);
  });

  test.each<[string, (n: number) => Partial<Figures>]>([
    ['alternates ends', (n) => ({ endsAtMs: END_MS + (n % 2) * 30 * DAY_MS })],
    ['alternates traffic', (n) => ({ usedBytes: (n % 2) * GB })],
    ['moves the end at each read', (n) => ({ endsAtMs: END_MS + n * DAY_MS })],
  ])('at most twice in ten minutes where a panel %s', (_, change) => {
    const reads = Array.from({ length: 720 }, (_, n) => [n * 10_000, change(n)] as const);
    expect(read(reads).writes.length).toBeLessThanOrEqual(26);
  });
});

test('figures of a clock that was ahead are read again once it is right', () => {
  const { writes } = read([
    [400 * DAY_MS, {}],
    [DAY_MS, { endsAtMs: END_MS + 30 * DAY_MS }],
  ]);
  expect(writes).toHaveLength(2);
});

describe('a renewal', () => {
  const paid = { endsAtMs: END_MS + 30 * DAY_MS };

  test('is an end that two reads an hour apart agree on', () => {
    const { kept, renewals } = read([
      [0, {}],
      [DAY_MS, paid],
      [DAY_MS + 50 * MINUTE_MS, paid],
      [DAY_MS + HOUR_MS, paid],
      [DAY_MS + 2 * HOUR_MS, paid],
    ]);
    expect(renewals).toEqual([DAY_MS + HOUR_MS]);
    expect(kept?.periodEndsAtMs).toBe(paid.endsAtMs);
  });

  const renews = (change: Partial<Figures>, before: Partial<Figures> = {}) =>
    read([
      [0, before],
      [HOUR_MS, change],
      [2 * HOUR_MS, change],
    ]).renewals.length === 1;

  test('is at least a day, or a tenth of the total; or no bound where there was one', () => {
    expect(renews({ endsAtMs: END_MS + DAY_MS })).toBe(true);
    expect(renews({ endsAtMs: END_MS + 23 * HOUR_MS })).toBe(false);
    expect(renews({ endsAtMs: END_MS - 30 * DAY_MS })).toBe(false);
    expect(renews({ totalBytes: 11 * GB })).toBe(true);
    expect(renews({ totalBytes: 10.9 * GB })).toBe(false);
    expect(renews({ endsAtMs: null })).toBe(true);
    expect(renews({ totalBytes: null })).toBe(true);
    expect(renews({}, { endsAtMs: null })).toBe(false);
  });

  test('is none where a panel, or two, alternate', () => {
    const turns = Array.from({ length: 24 * 30 }, (_, n) => n).map(
      (n) => [n * 40 * MINUTE_MS, n % 2 === 0 ? {} : paid] as const,
    );
    expect(read(turns).renewals).toEqual([]);
  });
});

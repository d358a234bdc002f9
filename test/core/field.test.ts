import { expect, test } from 'bun:test';
import { changesIn, factsIn } from '../../src/core/audit/entry.ts';
import {
  each,
  type Fields,
  fieldsOf,
  only,
  outside,
  readGiven,
  usualOf,
} from '../../src/core/field.ts';
import { ENFORCE, NOTE, ONE_LINE, WHEN_FULL, whole } from '../../src/core/formats.ts';
import { malformed } from '../../src/core/outcome.ts';

interface Own {
  whenFull: 'refuse' | 'replace-oldest';
  isOpen: 0 | 1;
  untilMs: number | null;
  note: string | null;
  key: string | null;
}

const FIELDS = {
  whenFull: { format: WHEN_FULL },
  isOpen: { name: 'open', format: ENFORCE, usual: 0 },
  untilMs: {
    name: 'until',
    format: whole(0, 9),
    usual: null,
    audit: (ms: number | null) => `${ms} ms`,
  },
  note: { format: NOTE, usual: null, audit: 'text' },
  key: { format: ONE_LINE, usual: null, audit: 'secret' },
} as const satisfies Fields<Own>;

const OWN: Own = { whenFull: 'refuse', isOpen: 0, untilMs: null, note: 'a', key: null };

test('a table of fields without a row for one, or with the format of another, does not compile', () => {
  const { note, ...rest } = FIELDS;
  // @ts-expect-error The row of `note` is missing.
  const holed: Fields<Own> = rest;
  // @ts-expect-error The format reads other values.
  const wrong: Fields<Own> = { ...rest, note: { ...note, format: WHEN_FULL, usual: 5 } };
  expect([holed, wrong]).toHaveLength(2);
});

test('outside names are those of rows, else of fields', () => {
  const named = outside(FIELDS, OWN);
  const type: { when_full: string; open: 0 | 1; until: number | null } = named;
  expect(type).toEqual({
    when_full: 'refuse',
    open: 0,
    until: null,
    note: 'a',
    key: null,
  } as never);
  // @ts-expect-error No field has this name outside.
  expect(named.whenFull).toBeUndefined();
  expect(outside(FIELDS, { note: null })).toEqual({ note: null });
});

test('a record of fields keeps their order, and leaves out what has no value', () => {
  expect(Object.entries(each(fieldsOf(FIELDS), (field) => field.length))).toEqual([
    ['whenFull', 8],
    ['isOpen', 6],
    ['untilMs', 7],
    ['note', 4],
    ['key', 3],
  ]);
  expect(each(['note', 'key'], (field) => (field === 'key' ? 1 : undefined))).toEqual({ key: 1 });
  expect(only(OWN, ['note', 'isOpen'])).toEqual({ note: 'a', isOpen: 0 });
  expect(only<Partial<Own>, 'note' | 'key'>({ note: null }, ['note', 'key'])).toEqual({
    note: null,
  });
  expect(usualOf<Own>(FIELDS)).toEqual({ isOpen: 0, untilMs: null, note: null, key: null } as Own);
});

test('given fields are read by their formats; the first misfit is named', () => {
  expect(readGiven<Own>(FIELDS, {})).toEqual({});
  expect(readGiven<Own>(FIELDS, { note: null, isOpen: '1', untilMs: undefined })).toEqual({
    note: null,
    isOpen: 1,
  });
  expect(readGiven<Own>(FIELDS, { isOpen: null, note: 5 })).toEqual(
    malformed('isOpen must be 0 or 1'),
  );
});

test('the audit log compares all fields, without texts and secrets', () => {
  expect(factsIn<Own>(FIELDS, { ...OWN, key: 'c' })).toEqual({
    when_full: 'refuse',
    open: 0,
    until: 'null ms',
    key: 'set',
  });
  expect(changesIn<Own>(FIELDS, OWN, { ...OWN })).toBeNull();
  const after: Own = { whenFull: 'replace-oldest', isOpen: 1, untilMs: 5, note: 'b', key: 'c' };
  expect(JSON.stringify(changesIn<Own>(FIELDS, OWN, after))).toBe(
    '{"when_full":["refuse","replace-oldest"],"open":[0,1],"until":["null ms","5 ms"],' +
      '"note":"changed","key":"changed"}',
  );
});

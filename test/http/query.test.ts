/** The query string: no more of it is read than a call can need. */

import { expect, test } from 'bun:test';
import { PARAM_COUNT_MAX, parseQuery, REPEATED } from '../../src/http/request/query.ts';

const read = (query: string, foldCase = false) =>
  Object.fromEntries(parseQuery(`http://localhost/path?${query}`, foldCase));

test.each([
  ['', {}],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a&b=', { a: '', b: '' }],
  ['&&a=1&', { a: '1' }],
  ['a=1&a=1', { a: REPEATED }],
  ['a=b=c', { a: 'b=c' }],
  ['a=%D1%8F+%2B', { a: 'я +' }],
  ['a=5%&b=%zz', { a: '5%', b: '%zz' }],
  ['a=%D1', { a: '\ufffd' }],
  ['a=1#b=2', { a: '1' }],
] as [string, Record<string, string | typeof REPEATED>][])(
  '%p is read as browsers write it',
  (query, expected) => {
    expect(read(query)).toEqual(expected);
  },
);

test('names may be taken in any case', () => {
  expect(read('InstallID=1&installid=2', true)).toEqual({ installid: REPEATED });
});

test('what comes behind as many parameters as may be is not read', () => {
  const names = Array.from({ length: PARAM_COUNT_MAX + 1 }, (_, n) => `p${n}`);
  expect(Object.keys(read(names.join('&')))).toEqual(names.slice(0, -1));
  expect(read(`${'%&'.repeat(PARAM_COUNT_MAX)}a=1`)).toEqual({ '%': REPEATED });
});

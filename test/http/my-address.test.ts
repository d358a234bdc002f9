/** The address of the page of users: whose word counts for its scheme, and how it names a link. */

import { expect, test } from 'bun:test';
import { myUrlOfFetch } from '../../src/core/my.ts';
import { myUrlOfRequest, originOf } from '../../src/http/my/address.ts';

const HOST = 'gate.example.com';

test.each([
  [false, 'http', null, 'http'],
  [false, 'http', 'https', 'http'],
  [false, 'https', 'http', 'https'],
  [true, 'http', 'https', 'https'],
  [true, 'http', 'http', 'http'],
] as const)('from a proxy that is trusted (%p), over %s, that says %s: %s', (...row) => {
  const [isTrusted, scheme, said, is] = row;
  const headers = { host: HOST, ...(said && { 'x-forwarded-proto': said }) };
  const request = new Request(`http://${HOST}/`, { headers });
  expect(originOf(request, { isTrusted, scheme })).toBe(`${is}://${HOST}`);
});

test('names a link by its code, else by host and path, and is none without a page', () => {
  const page = { myPath: '/my' };
  const fetched = { host: 'sub.example.com', path: '/sub/a key', installCode: null };
  expect(myUrlOfFetch(page, `https://${HOST}`, fetched)).toBe(
    `https://${HOST}/my?link=sub.example.com/sub/a%20key`,
  );
  const byCode = { ...fetched, installCode: 'FIRSTLINK001' };
  expect(myUrlOfFetch(page, `https://${HOST}`, byCode)).toBe(
    `https://${HOST}/my?link=FIRSTLINK001`,
  );
  expect(myUrlOfFetch({ myPath: '' }, `https://${HOST}`, byCode)).toBeNull();
  expect(myUrlOfFetch(page, '', byCode)).toBeNull();
  const target = '/sub/key?installid=FIRSTLINK001&x=1';
  expect(myUrlOfRequest(page, 'http://x', 'sub.example.com', target)).toBe(
    'http://x/my?link=FIRSTLINK001',
  );
  expect(myUrlOfRequest(page, 'http://x', 'sub.example.com', '/sub/key?x=1')).toBe(
    'http://x/my?link=sub.example.com/sub/key',
  );
});

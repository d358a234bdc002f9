/** Headers that are made once must not be anybody's to change. */

import { expect, test } from 'bun:test';
import { Responses } from '../../src/http/answer/respond.ts';

const answer = { payload: '{}' };

test('the headers of one response are not those of the next', () => {
  const responses = new Responses({ 'x-hwid-active': 'true' });
  const first = responses.respond('ok', answer);
  first.headers.set('connection', 'close');
  first.headers.delete('cache-control');
  const next = responses.respond('ok', answer);
  expect(Object.fromEntries(next.headers)).toEqual({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-hwid-active': 'true',
  });
});

test('one detail, id or last answer leaves nothing for the next', () => {
  const responses = new Responses();
  const own = { detail: 'id must be 5', requestId: 'abc-1', isLast: true };
  const first = responses.respond('install_not_found', { ...answer, ...own });
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'x-error-detail': 'id must be 5',
    'x-request-id': 'abc-1',
    connection: 'close',
  });
  const next = responses.respond('install_not_found', answer);
  expect(next.headers.get('x-error-detail')).toBe('id names no limited link of this provider');
  expect(next.headers.has('x-request-id')).toBe(false);
  expect(next.headers.has('connection')).toBe(false);
});

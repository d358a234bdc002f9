/** Headers on their way to a panel and back. */

import { expect, test } from 'bun:test';
import {
  answerHeaders,
  type Provenance,
  requestHeaders,
} from '../../../src/http/upstream/headers.ts';

const FROM: Provenance = {
  peer: '192.0.2.1',
  client: '192.0.2.1',
  isTrusted: false,
  scheme: 'https',
};
const HOSTS = { told: 'panel.example', asked: 'sub.example' };

/** What was sent, but for what every request gets. */
function passed(headers: Record<string, string>, from = FROM): Record<string, string> {
  const request = new Request('http://localhost/', { headers });
  return requestHeaders(request, HOSTS, from);
}

test('what belongs to one connection stays there', () => {
  const headers = passed({
    connection: 'keep-alive, X-Hop, te',
    'x-hop': '1',
    'keep-alive': 'timeout=5',
    'proxy-authorization': 'Basic eDp5',
    te: 'trailers',
    trailer: 'x',
    'transfer-encoding': 'chunked',
    upgrade: 'h2c',
    'http2-settings': 'x',
    'content-length': '5',
    expect: '100-continue',
    'x-hwid': 'phone',
    'accept-encoding': 'br',
  });
  expect(Object.keys(headers).toSorted()).toEqual([
    ...['accept-encoding', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
    ...['x-hwid', 'x-real-ip'],
  ]);
});

const CLAIMS = {
  forwarded: 'for=203.0.113.9',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'other.example',
  'x-forwarded-proto': 'http',
  'x-real-ip': '203.0.113.9',
};

test('nobody but a trusted proxy says where a request comes from', () => {
  expect(passed(CLAIMS)).toEqual({
    host: 'panel.example',
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-host': 'sub.example',
    'x-forwarded-proto': 'https',
    'x-real-ip': '192.0.2.1',
  });
  const trusted = { ...FROM, isTrusted: true, client: '203.0.113.9' };
  expect(passed(CLAIMS, trusted)).toEqual({
    host: 'panel.example',
    'x-forwarded-for': '203.0.113.9, 192.0.2.1',
    'x-forwarded-host': 'other.example',
    'x-forwarded-proto': 'http',
    'x-real-ip': '203.0.113.9',
  });
});

test('nothing goes along that names another path or method', () => {
  const names = ['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI', 'X-Forwarded-Uri'];
  const methods = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'];
  const told = ['X-Original-Method', 'X-Forwarded-Method'];
  const claims = Object.fromEntries([...names, ...methods, ...told].map((name) => [name, '/x']));
  const trusted = { ...FROM, isTrusted: true };
  for (const from of [FROM, trusted]) expect(passed(claims, from)).toEqual(passed({}, from));
});

test("the panel's headers pass, but for those of its connection", () => {
  const utf8 = Buffer.from('подписка').toString('latin1');
  const headers = answerHeaders([
    ...['Profile-Title', utf8, 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Hop', '1'],
    ...['Connection', 'close, X-Hop, bad name', 'Keep-Alive', 'timeout=5', 'Upgrade', 'h2c'],
    ...['Transfer-Encoding', 'chunked', 'Trailer', 'X-End'],
  ]);
  expect([...(headers ?? [])]).toEqual([
    ['profile-title', utf8],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
  ]);
});

test('an answer with signs that no header may have is none', () => {
  expect(answerHeaders(['X-A', 'a\nb'])).toBeNull();
  expect(answerHeaders(['X A', 'b'])).toBeNull();
});

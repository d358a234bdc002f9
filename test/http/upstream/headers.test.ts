/** Headers on their way to a panel and back. */

import { describe, expect, test } from 'bun:test';
import {
  type Provenance,
  requestHeaders,
  responseHeaders,
} from '../../../src/http/upstream/headers.ts';

const FROM: Provenance = {
  peer: '192.0.2.1',
  client: '192.0.2.1',
  isTrusted: false,
  scheme: 'https',
};
const HOSTS = { sent: 'panel.example', asked: 'sub.example' };

/** What was sent, but for what every request gets. */
function passed(
  headers: Record<string, string>,
  from = FROM,
  kinds = { isWhole: false, isSubscription: false },
): Record<string, string> {
  const request = new Request('http://localhost/', { headers });
  return requestHeaders(request, HOSTS, from, kinds);
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

describe('nothing goes along by which a panel takes a request, or its client, for another', () => {
  test.each([
    ...['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI', 'X-Forwarded-Uri'],
    ...['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'],
    ...['X-Original-Method', 'X-Forwarded-Method', 'X-Rewrite-Uri', 'X-Request-Uri'],
    ...['X-Original-Host', 'X-Forwarded-Prefix', 'X-HTTP-Host-Override', 'X-Host'],
    ...['CF-Connecting-IP', 'CF-Connecting-IPv6', 'True-Client-IP', 'X-Client-IP', 'Client-IP'],
    ...['X-Remnawave-Real-IP', 'X-Cluster-Client-IP', 'X-Forwarded', 'Forwarded-For'],
    ...['X_Forwarded_For', 'X_Original-URI', 'X-HTTP_Method_Override', 'any_name', '_', 'a_', '_a'],
  ])('%s', (name) => {
    for (const from of [FROM, { ...FROM, isTrusted: true }]) {
      expect(passed({ [name]: '/x' }, from)).toEqual(passed({}, from));
    }
  });

  test('and the headers of apps go along', () => {
    const names = ['x-hwid', 'x-device-os', 'x-ver-os', 'x-device-model', 'x-app-version'];
    const others = ['user-agent', 'accept-language', 'x-device-locale', 'x-request-id', 'cookie'];
    const headers = Object.fromEntries([...names, ...others].map((name) => [name, 'a']));
    expect(passed(headers)).toMatchObject(headers);
  });
});

test("the panel's headers pass, but for those of its connection", () => {
  const utf8 = Buffer.from('подписка').toString('latin1');
  const headers = responseHeaders([
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
  expect(responseHeaders(['X-A', 'a\nb'])).toBeNull();
  expect(responseHeaders(['X A', 'b'])).toBeNull();
});

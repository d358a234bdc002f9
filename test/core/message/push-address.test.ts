import { describe, expect, test } from 'bun:test';
import { readKeys, readPush } from '../../../src/core/message/push-address.ts';
import { readNetwork } from '../../../src/core/outbox/address.ts';
import { isRefused } from '../../../src/core/outcome.ts';

/** An address in a network of the operator's. */
const OWN = '10.0.0.1';
const REACH = { outgoingAllow: [], outgoingAllowHttp: false };
/** The receiver of RFC 8291, appendix A. */
const P256DH =
  'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
const AUTH = 'BTBZMqHH6r4Tts7J_aSIgg';
const KEYS = { p256dh: P256DH, auth: AUTH };

const webpush = (change: Record<string, unknown>) => ({
  gateway: 'webpush',
  token: { endpoint: 'https://push.example/a?b=c', keys: KEYS, ...change },
});

function reasonAgainst(push: unknown, reach = REACH): string {
  const read = readPush(push, reach);
  return isRefused(read) ? String(read.detail) : '';
}

test('no address is no mistake', () => {
  for (const none of [undefined, null, '']) expect(readPush(none, REACH)).toBeNull();
});

test('tokens of FCM and APNs are kept as they come', () => {
  const fcm = { gateway: 'fcm', token: 'dGVzd:APA91b-_x' } as const;
  expect(readPush(fcm, REACH)).toEqual(fcm);
  const apns = { gateway: 'apns' as const, token: 'aB'.repeat(32) };
  expect(readPush(apns, REACH)).toEqual(apns);
});

test.each(['', 'abc', 'zz', '../../3/device/ab', 'ab\n', 'ab'.repeat(257)])(
  'APNs: %j is no token',
  (token) => {
    expect(reasonAgainst({ gateway: 'apns', token })).not.toBe('');
  },
);

describe('a subscription', () => {
  test('keeps its endpoint as it came, and what it is encrypted with in one form', () => {
    const base64 = (text: string) => `${Buffer.from(text, 'base64url').toString('base64')}`;
    const given = webpush({
      expirationTime: null,
      contentEncoding: 'aesgcm',
      keys: { p256dh: base64(P256DH), auth: base64(AUTH), more: 1 },
    });
    expect(readPush(given, REACH)).toEqual({
      gateway: 'webpush',
      token: { endpoint: 'https://push.example/a?b=c', keys: KEYS },
    });
    const withEnd = readPush(webpush({ expirationTime: 5 }), REACH);
    expect(withEnd).toMatchObject({ token: { expirationTime: 5 } });
  });

  test.each([
    'http://push.example/',
    'ftp://push.example/',
    'https://user@push.example/',
    'https:push.example',
    `https://push.example/${'x'.repeat(2048)}`,
    // In parts: the test of addresses lets in those alone that the product calls.
    ...['localhost', '127.1', '2130706433', '[::ffff:7f00:1]', '169.254.169.254', '10.0.0.1'].map(
      (host) => `https://${host}/`,
    ),
  ])('is not called at %s', (endpoint) => {
    expect(reasonAgainst(webpush({ endpoint }))).toStartWith('push.token.endpoint ');
  });

  test('in a network of the operator’s, or without TLS, if the operator says so', () => {
    const own = readNetwork('10.0.0.0/8');
    const reach = { outgoingAllow: own === null ? [] : [own], outgoingAllowHttp: true };
    expect(reasonAgainst(webpush({ endpoint: `http://${OWN}:8080/up` }), reach as never)).toBe('');
  });

  const raw = Buffer.from(P256DH, 'base64url');
  const changed = (at: number, byte: number) => {
    const copy = Buffer.from(raw);
    copy[at] = byte;
    return copy.toString('base64url');
  };
  test.each([
    ['none', undefined, AUTH],
    ['a number', 5, AUTH],
    ['too short', raw.subarray(0, 64).toString('base64url'), AUTH],
    ['too long', Buffer.concat([raw, Buffer.of(0)]).toString('base64url'), AUTH],
    ['compressed', Buffer.concat([Buffer.of(2), raw.subarray(1, 33)]).toString('base64url'), AUTH],
    ['of another kind', changed(0, 6), AUTH],
    ['no point of the curve', changed(64, 0), AUTH],
    ['no base64', `${P256DH.slice(0, -1)}!`, AUTH],
    ['without a secret', P256DH, undefined],
    ['with a short secret', P256DH, AUTH.slice(0, -2)],
    ['with a long secret', P256DH, `${AUTH}AA`],
  ])('with a key that is %s is refused', (_, p256dh, auth) => {
    expect(readKeys(p256dh, auth)).toBeNull();
    expect(reasonAgainst(webpush({ keys: { p256dh, auth } }))).toStartWith('push.token.keys ');
  });

  test('whose texts are too long together is refused before anything is made of them', () => {
    const keys = { p256dh: 'x'.repeat(4096), auth: AUTH };
    expect(reasonAgainst(webpush({ keys }))).toBe('push.token must not be longer than 4096 bytes');
  });
});

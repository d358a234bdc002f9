/** Signatures, judged by the reference receiver and by the specification's own words. */

import { expect, test } from 'bun:test';
import { createPublicKey, verify } from 'node:crypto';
import { Webhook as ReferenceReceiver } from 'standardwebhooks';
import type { StoredEvent } from '../../src/core/port/event.ts';
import { newWebhookSecret, verifyingKey } from '../../src/core/webhook-key.ts';
import { bodyOf, messageId, signedHeaders } from '../../src/webhook/signature.ts';

const EVENT: StoredEvent = {
  id: 7,
  providerId: 1,
  kind: 'link.created',
  atMs: Date.UTC(2026, 10, 20, 12),
  data: { install_id: 3, install_limit: 2 },
};
const BODY =
  '{"type":"link.created","timestamp":"2026-11-20T12:00:00.000Z","data":{"install_id":3,"install_limit":2}}';

test('the body is compact JSON in the order of the specification', () => {
  expect(bodyOf(EVENT)).toBe(BODY);
});

test('an event keeps its name, which no other gets; each try has one of its own', () => {
  // After a restore a number is given again.
  expect(messageId({ ...EVENT, atMs: EVENT.atMs + 1 })).not.toBe(messageId(EVENT));
  expect(messageId(EVENT)).toBe('evt_7_mwoxfuo0');
  expect(messageId({ ...EVENT, data: {} })).toBe(messageId(EVENT));
  expect(messageId({ ...EVENT, id: 0, kind: 'webhook.test' })).toBe('evt_test_1795176000000');
});

/** Headers of an attempt so many ms ago, by the clock that the reference receiver reads. */
function attempt(
  secret: string,
  agoMs = 0,
  previous: { secret: string; forMs: number } | null = null,
) {
  const nowMs = performance.timeOrigin + performance.now() - agoMs;
  const old = previous && { secret: previous.secret, untilMs: nowMs + previous.forMs };
  return signedHeaders({ secret, previous: old }, 'evt_7', BODY, nowMs);
}

test('the reference receiver takes a call, and reads what it says', () => {
  const secret = newWebhookSecret('v1');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const receiver = new ReferenceReceiver(secret);
  expect(receiver.verify(BODY, attempt(secret))).toEqual(JSON.parse(BODY));
});

test('the reference receiver rejects a call that was changed in transit', () => {
  const secret = newWebhookSecret('v1');
  const receiver = new ReferenceReceiver(secret);
  const headers = attempt(secret);
  const later = String(Number(headers['webhook-timestamp']) + 1);
  const changed = [
    [BODY.replace('3', '4'), headers],
    [BODY, { ...headers, 'webhook-id': 'evt_8' }],
    [BODY, { ...headers, 'webhook-timestamp': later }],
    [BODY, attempt(newWebhookSecret('v1'))],
  ] as const;
  for (const [body, given] of changed) {
    expect(() => receiver.verify(body, given)).toThrow('No matching signature found');
  }
});

test('a call that was caught is refused when it is sent again after five minutes', () => {
  const secret = newWebhookSecret('v1');
  const receiver = new ReferenceReceiver(secret);
  expect(receiver.verify(BODY, attempt(secret, 290_000))).toEqual(JSON.parse(BODY));
  expect(() => receiver.verify(BODY, attempt(secret, 302_000))).toThrow(
    'Message timestamp too old',
  );
});

test('after a rotation both secrets verify until the time of the old one is over', () => {
  const [old, fresh] = [newWebhookSecret('v1'), newWebhookSecret('v1')];
  const during = attempt(fresh, 0, { secret: old, forMs: 1 });
  expect(during['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of [old, fresh]) {
    expect(new ReferenceReceiver(secret).verify(BODY, during)).toEqual(JSON.parse(BODY));
  }
  const afterwards = attempt(fresh, 0, { secret: old, forMs: 0 });
  expect(new ReferenceReceiver(fresh).verify(BODY, afterwards)).toEqual(JSON.parse(BODY));
  expect(() => new ReferenceReceiver(old).verify(BODY, afterwards)).toThrow();
});

test('the public half of an Ed25519 key verifies what the secret half signs', () => {
  const secret = newWebhookSecret('v1a');
  expect(secret).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/);
  const shown = verifyingKey(secret);
  expect(shown).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  const headers = attempt(secret);
  const [scheme, signature = ''] = headers['webhook-signature']?.split(',') ?? [];
  expect(scheme).toBe('v1a');
  const x = Buffer.from(shown.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  const content = `evt_7.${headers['webhook-timestamp']}.${BODY}`;
  const isGood = (text: string) =>
    verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
  expect([isGood(content), isGood(`${content} `)]).toEqual([true, false]);
});

test('HMAC secrets are shown as they are: their receiver needs the same', () => {
  const secret = newWebhookSecret('v1');
  expect(verifyingKey(secret)).toBe(secret);
});

test('no two secrets are the same', () => {
  const secrets = [1, 2].flatMap(() => [newWebhookSecret('v1'), newWebhookSecret('v1a')]);
  expect(new Set(secrets).size).toBe(4);
});

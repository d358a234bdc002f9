/** Encryption and signature of Web Push, by the examples of the RFCs and by other programs. */

import { describe, expect, test } from 'bun:test';
import { createECDH, createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { decrypt } from 'http_ece';
import { encrypt, PLAINTEXT_BYTES_MAX } from '../../src/gateway/aes128gcm.ts';
import { VapidKey } from '../../src/gateway/vapid.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');

/** RFC 8291, section 5 and appendix A. */
const RFC = {
  plaintext: 'When I grow up, I want to be a watermelon',
  sender: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  receiver: {
    publicKey: bytes(
      'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    ),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  },
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body: [
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS',
    '6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu',
    'lcy4a-fN',
  ].join(''),
};

function receiver() {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  return { keys, publicKey: keys.getPublicKey(), auth: randomBytes(16) };
}

describe('RFC 8291', () => {
  test('its own example comes out byte for byte', () => {
    const sender = createECDH('prime256v1');
    sender.setPrivateKey(bytes(RFC.sender));
    const body = encrypt(RFC.plaintext, RFC.receiver, sender, bytes(RFC.salt));
    expect(body.toString('base64url')).toBe(RFC.body);
  });

  test.each([0, 1, 41, 1_000, PLAINTEXT_BYTES_MAX])('%d bytes are read by http_ece', (length) => {
    const { keys, ...to } = receiver();
    const plaintext = randomBytes(length);
    const body = encrypt(plaintext, to);
    const read = decrypt(body, { version: 'aes128gcm', privateKey: keys, authSecret: to.auth });
    expect(read.equals(plaintext)).toBe(true);
    expect(body.length).toBe(length + 4096 - PLAINTEXT_BYTES_MAX);
  });

  test('the same text is never encrypted alike', () => {
    const { publicKey, auth } = receiver();
    const all = Array.from({ length: 5 }, () =>
      encrypt('text', { publicKey, auth }).toString('hex'),
    );
    expect(new Set(all).size).toBe(5);
  });

  test('a key that is no point of the curve is no key', () => {
    const { publicKey, auth } = receiver();
    const last = publicKey.length - 1;
    publicKey[last] = (publicKey[last] ?? 0) ^ 1;
    expect(() => encrypt('text', { publicKey, auth })).toThrow();
  });
});

describe('RFC 8292', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const read = VapidKey.read(String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  if (typeof read === 'string') throw new Error(read);
  const key = read;
  const NOW_MS = Date.UTC(2026, 10, 22);
  const SUBJECT = 'mailto:operator@example.com';

  function partsOf(header: string) {
    const [, token = '', own = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(header) ?? [];
    const [head = '', claims = '', signature = ''] = token.split('.');
    const json = (part: string) => JSON.parse(bytes(part).toString('utf8'));
    return { own, head: json(head), claims: json(claims), signed: `${head}.${claims}`, signature };
  }

  test('the signature names sender, receiver and expiry', async () => {
    const header = await key.authorization('https://push.example', SUBJECT, NOW_MS);
    const { own, head, claims, signed, signature } = partsOf(header);
    expect(own).toBe(key.publicKey);
    expect(bytes(own)).toHaveLength(65);
    expect(head).toEqual({ typ: 'JWT', alg: 'ES256' });
    const exp = NOW_MS / 1000 + 12 * 3_600;
    expect(claims).toEqual({ aud: 'https://push.example', sub: SUBJECT, exp });
    const publicKey = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' as const };
    expect(verify('sha256', Buffer.from(signed), publicKey, bytes(signature))).toBe(true);
  });

  test('each origin has its own; it is used until an hour before its end, and made anew then', async () => {
    const at = (origin: string, hours: number) =>
      key.authorization(origin, SUBJECT, NOW_MS + hours * 3_600_000);
    const first = await at('https://a.example', 0);
    expect(await at('https://a.example', 11)).toBe(first);
    expect(await at('https://b.example', 0)).not.toBe(first);
    expect(await at('https://a.example', 11.01)).not.toBe(first);
    // A clock that was set back: what was signed ahead of it is signed again.
    const later = await at('https://a.example', 30);
    expect(await at('https://a.example', 0)).not.toBe(later);
  });

  test('however many origins there are, few are kept', async () => {
    for (let n = 0; n < 250; n++) {
      await key.authorization(`https://push-${n}.example`, SUBJECT, NOW_MS);
    }
    const again = await key.authorization('https://push-0.example', SUBJECT, NOW_MS + 1_000);
    expect(partsOf(again).claims.exp).toBe(NOW_MS / 1000 + 1 + 12 * 3_600);
  });
});

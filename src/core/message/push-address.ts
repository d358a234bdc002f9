/** Push addresses of devices: read and checked before they are stored. */

import { ECDH } from 'node:crypto';
import { byteLength, isAbsent, isRecord, isText } from '../json-input.ts';
import { readPublicUrl } from '../outbox/address.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import type { Reach } from '../port/reach.ts';
import { PUSH_GATEWAYS, type PushAddress, type PushSubscription } from '../port/registration.ts';

/** Most bytes of the texts of a push token together. */
export const PUSH_TOKEN_BYTES_MAX = 4096;

/** A token of APNs, which becomes a part of a URL; Apple does not define its length. */
export const APNS_TOKEN = /^(?:[0-9A-Fa-f]{2}){1,256}$/;

/** Returns true if a text can be a token of APNs. */
export function isApnsToken(text: string): boolean {
  return APNS_TOKEN.test(text);
}

/**
 * Reads `push` of a registration; null: it is absent. Returns a misfit for an address that its
 * gateway cannot use, or that `reach` forbids to call.
 */
export function readPush(value: unknown, reach: Reach): PushAddress | Misfit | null {
  if (isAbsent(value)) return null;
  if (!isRecord(value)) return malformed('push must be an object with gateway and token');
  const gateway = PUSH_GATEWAYS.find((known) => known === value['gateway']);
  if (gateway === undefined)
    return malformed(`push.gateway must be one of ${PUSH_GATEWAYS.join(', ')}`);
  if (gateway === 'webpush') {
    const subscription = readSubscription(value['token'], reach);
    return isRefused(subscription) ? subscription : { gateway, token: subscription };
  }
  const token = value['token'];
  if (!isText(token) || token === '') return malformed('push.token must be a string');
  if (byteLength(token) > PUSH_TOKEN_BYTES_MAX) return malformed(TOO_LONG);
  if (gateway === 'apns' && !isApnsToken(token)) {
    return malformed('push.token of apns must be the device token in hexadecimal digits');
  }
  return { gateway, token };
}

const TOO_LONG = `push.token must not be longer than ${PUSH_TOKEN_BYTES_MAX} bytes`;

/** Reads the subscription object of the W3C Push API; drops other members. */
function readSubscription(value: unknown, reach: Reach): PushSubscription | Misfit {
  const endpoint = isRecord(value) ? value['endpoint'] : null;
  if (!isRecord(value) || !isText(endpoint) || endpoint === '') {
    return malformed('push.token must be the subscription object, with its endpoint');
  }
  const { expirationTime, keys: given } = value;
  const { p256dh, auth } = isRecord(given) ? given : {};
  const texts = [endpoint, p256dh, auth].map((text) => (isText(text) ? text : ''));
  if (byteLength(texts.join('')) > PUSH_TOKEN_BYTES_MAX) return malformed(TOO_LONG);
  const url = readPublicUrl(endpoint, reach);
  if (isRefused(url)) return malformed(`push.token.endpoint ${url.detail}`);
  const keys = readKeys(p256dh, auth);
  if (keys === null) {
    return malformed(
      'push.token.keys must hold p256dh, a point of P-256 of 65 bytes, and auth, 16 bytes, in base64url',
    );
  }
  return {
    // Unchanged: a push service may distinguish spellings.
    endpoint,
    ...(Number.isFinite(expirationTime) && { expirationTime: expirationTime as number }),
    keys: {
      p256dh: keys.publicKey.toString('base64url'),
      auth: keys.auth.toString('base64url'),
    },
  };
}

/** The keys of a subscription (RFC 8291 section 2), as bytes. */
export interface ReceiverKeys {
  /** A point of P-256, uncompressed: 65 bytes. */
  publicKey: Buffer;
  /** The authentication secret: 16 bytes. */
  auth: Buffer;
}

/** Reads the keys of a subscription. Returns null if they cannot encrypt. */
export function readKeys(p256dh: unknown, auth: unknown): ReceiverKeys | null {
  const [publicKey, secret] = [readBase64(p256dh), readBase64(auth)];
  if (publicKey?.length !== 65 || secret?.length !== 16 || publicKey[0] !== 4) return null;
  try {
    // Throws unless it is a point of the curve.
    ECDH.convertKey(publicKey, 'prime256v1');
    return { publicKey, auth: secret };
  } catch {
    return null;
  }
}

/** Reads base64url or base64. Returns null for other texts. */
function readBase64(value: unknown): Buffer | null {
  if (typeof value !== 'string' || !/^[\w+/-]{1,100}={0,2}$/.test(value)) return null;
  return Buffer.from(value, 'base64');
}

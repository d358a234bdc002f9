/**
 * Secrets of webhooks in the formats of the Standard Webhooks specification ("Signature scheme"):
 * `whsec_` for HMAC-SHA256, `whsk_` for Ed25519 and `whpk_` for its public key.
 */

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { SIGNATURE_SCHEMES } from './port/webhook.ts';

type Scheme = (typeof SIGNATURE_SCHEMES)[number];

const SYMMETRIC = 'whsec_';
const PRIVATE = 'whsk_';
const PUBLIC = 'whpk_';

/** Bytes of a secret of HMAC: the specification asks for 24 to 64. */
const SYMMETRIC_BYTES = 32;
/** Bytes of a private or public key of Ed25519; a secret has both, the private one first. */
const HALF_BYTES = 32;

/** Makes a new secret. */
export function newWebhookSecret(scheme: Scheme): string {
  if (scheme === 'v1') {
    const bytes = crypto.getRandomValues(new Uint8Array(SYMMETRIC_BYTES));
    return SYMMETRIC + Buffer.from(bytes).toString('base64');
  }
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const halves = [d, x].map((half) => Buffer.from(half, 'base64url'));
  return PRIVATE + Buffer.concat(halves).toString('base64');
}

/** Returns the key with which receivers verify: `whpk_…`, or the whole `whsec_…`. */
export function verifyingKey(secret: string): string {
  if (!secret.startsWith(PRIVATE)) return secret;
  return PUBLIC + bytesOf(secret, PRIVATE).subarray(HALF_BYTES).toString('base64');
}

/** A secret in the form that signs. */
type SigningKey = { scheme: 'v1'; key: Uint8Array } | { scheme: 'v1a'; key: KeyObject };

/** Reads a secret that {@link newWebhookSecret} made. */
export function signingKey(secret: string): SigningKey {
  if (!secret.startsWith(PRIVATE)) return { scheme: 'v1', key: bytesOf(secret, SYMMETRIC) };
  const bytes = bytesOf(secret, PRIVATE);
  const base64url = (from: number) => bytes.subarray(from, from + HALF_BYTES).toString('base64url');
  const key = createPrivateKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', d: base64url(0), x: base64url(HALF_BYTES) },
  });
  return { scheme: 'v1a', key };
}

function bytesOf(secret: string, prefix: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64');
}

/** Reads JSON Web Tokens by node:crypto alone: another implementation than the product's. */

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isRecord } from './exchange.ts';

export interface Jwt {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

const PART = /^[A-Za-z0-9_-]+$/;

/** Reads a token signed with this algorithm by the key; or says what is wrong with it. */
export function readJwt(text: string, algorithm: 'RS256' | 'ES256', key: KeyObject): Jwt | string {
  const parts = text.split('.');
  const [head = '', body = '', signature = ''] = parts;
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return 'not a compact JWS';
  const header = parse(head);
  const claims = parse(body);
  if (header === null || claims === null) return 'header or claims are no JSON object';
  if (header['alg'] !== algorithm) return `alg is ${header['alg']}, not ${algorithm}`;
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    // JWS has the two numbers of an ECDSA signature side by side (RFC 7518 3.4).
    algorithm === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : { key },
    Buffer.from(signature, 'base64url'),
  );
  return isRight ? { header, claims } : 'the signature does not fit';
}

/** A P-256 key from its uncompressed point; throws for anything else. */
export function publicKeyOfPoint(point: Buffer): KeyObject {
  if (point.length !== 65 || point[0] !== 4) throw new Error('not an uncompressed point of P-256');
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
}

function parse(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

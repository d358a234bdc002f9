/** Random codes and keys. Only the SHA-256 of a key is stored. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { hashInHwid } from './formats.ts';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns `length` random letters and digits. */
export function randomCode(length: number): string {
  let code = '';
  while (code.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 248 is the largest multiple of 62 in a byte: larger values would favour the first letters.
      if (byte < 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);
    }
  }
  return code;
}

/** Returns a random `auth_key`: 192 bits, 32 letters of base64url. */
export function randomAuthKey(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
}

/** Returns a random device token: 256 bits, 43 letters of base64url. */
export function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

/** Returns the SHA-256 of a key or token, 32 bytes. */
export function hashKey(key: string): Uint8Array {
  return Bun.SHA256.hash(key) as Uint8Array;
}

/** Returns the SHA-256 of a subscription key in hexadecimal. */
export function subscriptionKeyHash(key: string): string {
  return Bun.SHA256.hash(key, 'hex');
}

/** Returns the name of a key in lists and logs: 8 hexadecimal digits of its SHA-256. */
export function keyFingerprint(hash: Uint8Array): string {
  return hash.subarray(0, 4).toHex();
}

/**
 * Returns the SHA-256 of a HWID in hexadecimal, which is its name in the audit log. That of
 * `hwidOfHash` is the hash in it.
 */
export function hwidHash(hwid: string): string {
  return hashInHwid(hwid) ?? Bun.SHA256.hash(hwid, 'hex');
}

/** Returns the keyed hash of the model of a phone: 48 bits in hexadecimal. */
export const modelHash = (key: Uint8Array, model: string): string =>
  createHmac('sha256', key).update(`model\n${model}`).digest('hex').slice(0, 12);

/** Returns the SHA-256 of the parameters of a call in hexadecimal. */
export function paramsHash(params: string): string {
  return Bun.SHA256.hash(params, 'hex');
}

/** Compares two SHA-256 values in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

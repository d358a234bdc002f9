/** Random codes and keys, and the only form in which a key is remembered: its SHA-256. */

import { timingSafeEqual } from 'node:crypto';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `length` letters and digits, each of the 62 equally likely. */
export function randomCode(length: number): string {
  let code = '';
  while (code.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 248 is the largest multiple of 62 in a byte: above it the first letters would be favoured.
      if (byte < 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);
    }
  }
  return code;
}

/** 192 random bits in the 64 letters of the specification's `auth_key`. */
export function randomAuthKey(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');
}

/** A device token: 256 random bits, 43 letters of base64url. */
export function randomToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

/** SHA-256 of a key or token, 32 bytes. */
export function hashKey(key: string): Uint8Array {
  return Bun.SHA256.hash(key) as Uint8Array;
}

/** The same of a subscription key, in hexadecimal. */
export function subscriptionKeyHash(key: string): string {
  return Bun.SHA256.hash(key, 'hex');
}

/** Tells one key from another without telling the key: 8 hexadecimal digits of its SHA-256. */
export function keyFingerprint(hash: Uint8Array): string {
  return hash.subarray(0, 4).toHex();
}

/** The name of a HWID in the audit log: its SHA-256 in hexadecimal. */
export function hwidHash(hwid: string): string {
  return Bun.SHA256.hash(hwid, 'hex');
}

/** Compares two SHA-256 values in a time that does not depend on where they differ. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

/** The part of the package `http_ece` that the tests use; it brings no types. */

declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  export function decrypt(
    body: Buffer,
    params: { version: 'aes128gcm'; privateKey: ECDH; authSecret: Buffer },
  ): Buffer;
  /** `dh`: the receiver's public key, base64url, as is its `authSecret`. */
  export function encrypt(
    text: Buffer,
    params: { version: 'aes128gcm'; privateKey: ECDH; dh: string; authSecret: string },
  ): Buffer;
}

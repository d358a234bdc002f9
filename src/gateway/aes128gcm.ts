/** Encryption of Web Push (RFC 8291): the push service cannot read the message. */

import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';
import type { ReceiverKeys } from '../core/message/push-address.ts';

const SALT_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const POINT_BYTES = 65;
/** Bytes of the one record; a push service accepts no more. */
const RECORD_BYTES = 4096;
/** Ends the last record (RFC 8188). */
const LAST_RECORD = Buffer.of(2);

/** Most bytes of text: salt, record size, length of the key and key come before them. */
export const PLAINTEXT_BYTES_MAX =
  RECORD_BYTES - (SALT_BYTES + 4 + 1 + POINT_BYTES) - TAG_BYTES - LAST_RECORD.length;

/** Makes a pair of keys for one message. */
function freshKeys(): ECDH {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  return keys;
}

/**
 * Encrypts a text of up to {@link PLAINTEXT_BYTES_MAX} bytes as one record of `aes128gcm`. `sender`
 * and `salt` are new for each message; only the example of the RFC gives them. Throws if the
 * receiver's key is no point of the curve.
 */
export function encrypt(
  plaintext: string | Buffer,
  receiver: ReceiverKeys,
  sender: ECDH = freshKeys(),
  salt: Buffer = randomBytes(SALT_BYTES),
): Buffer<ArrayBuffer> {
  const own = sender.getPublicKey();
  const shared = sender.computeSecret(receiver.publicKey);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver.publicKey, own]);
  const input = derive(shared, receiver.auth, info, 32);
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), KEY_BYTES);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), NONCE_BYTES);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const head = Buffer.alloc(SALT_BYTES + 5);
  salt.copy(head);
  head.writeUInt32BE(RECORD_BYTES, SALT_BYTES);
  head.writeUInt8(own.length, SALT_BYTES + 4);
  return Buffer.concat([
    ...[head, own],
    ...[cipher.update(plaintext), cipher.update(LAST_RECORD), cipher.final()],
    cipher.getAuthTag(),
  ]);
}

function derive(input: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', input, salt, info, length));
}

/** The VAPID key (RFC 8292), which proves to push services that this server sends. */

import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SignJWT } from 'jose';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { giveToOwnerOfFolder } from '../base/permissions.ts';
import { readSigningKey } from './parts.ts';

/** The life of a signature, s; push services accept a day at most. */
const TOKEN_SECONDS = 12 * 3_600;
/** The least life that a signature still has when it is used, s. */
const TOKEN_SECONDS_MIN = 3_600;
/** The most push services with a cached signature. */
const ORIGINS_MAX = 200;

export class VapidKey {
  /** The public key as apps subscribe with it: a point of P-256, uncompressed, in base64url. */
  readonly publicKey: string;
  readonly #key: KeyObject;
  /** Signatures by origin and subject, in the order in which they were made. */
  readonly #tokens = new Map<string, { value: string; fromSeconds: number }>();

  private constructor(key: KeyObject) {
    this.#key = key;
    this.publicKey = pointOf(key).toString('base64url');
  }

  /** Reads a key; or returns what is wrong with it, to follow the file's name. */
  static read(text: string): VapidKey | string {
    const key = readSigningKey(text);
    return typeof key === 'string' ? key : new VapidKey(key);
  }

  /** Returns the header `Authorization` for an origin (RFC 8292 section 3). */
  async authorization(origin: string, subject: string, nowMs: number): Promise<string> {
    const nowSeconds = Math.floor(nowMs / 1000);
    const name = `${origin} ${subject}`;
    const held = this.#tokens.get(name);
    const age = nowSeconds - (held?.fromSeconds ?? Number.NEGATIVE_INFINITY);
    if (held !== undefined && age >= 0 && age <= TOKEN_SECONDS - TOKEN_SECONDS_MIN) {
      return held.value;
    }
    const token = await new SignJWT({ sub: subject })
      .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
      .setAudience(origin)
      .setExpirationTime(nowSeconds + TOKEN_SECONDS)
      .sign(this.#key);
    const value = `vapid t=${token}, k=${this.publicKey}`;
    this.#tokens.delete(name);
    this.#tokens.set(name, { value, fromSeconds: nowSeconds });
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > ORIGINS_MAX && oldest !== undefined) this.#tokens.delete(oldest);
    return value;
  }
}

function pointOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

/**
 * Makes the file with a new key, readable by its owner alone. Returns false if there is one, also
 * one that another process makes at the same time: subscriptions are bound to the first key. Throws
 * `OperatorError`.
 */
export function makeVapidFile(path: string): boolean {
  // An existing key serves also in a read-only folder or on a full disk.
  if (existsSync(path)) return false;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const draft = join(dirname(path), `.vapid-${randomBytes(6).toString('hex')}`);
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, pem);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    giveToOwnerOfFolder(draft);
    // Unlike a rename, a link replaces no file.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    const why = messageOf(error);
    throw new OperatorError(`gateway.webpush.key_file: cannot make ${path}: ${why}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

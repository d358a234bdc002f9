/** A passkey in software: a key pair that answers challenges as a browser does. */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { ConsoleBrowser } from './console.ts';

/** The flags of an answer: the user was present and verified; and a new key is in it. */
const VERIFIED = 0x05;
const WITH_KEY = 0x40;

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');

export class SoftPasskey {
  readonly #id = randomBytes(16);
  readonly #own: KeyObject;
  readonly #coseKey: Buffer;

  constructor(private readonly origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#own = privateKey;
    // CBOR of {1: 2 (EC), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}.
    this.#coseKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** Answers the challenge of a new passkey. */
  made(challenge: string) {
    const key = [Buffer.alloc(16), Buffer.from([0, this.#id.length]), this.#id, this.#coseKey];
    const data = this.#data(VERIFIED | WITH_KEY, ...key);
    // CBOR of {fmt: 'none', attStmt: {}, authData}.
    const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex');
    const attestation = Buffer.concat([head, Buffer.from([data.length]), data]);
    const clientDataJSON = this.#clientData('webauthn.create', challenge);
    return this.#answer({ clientDataJSON, attestationObject: base64(attestation), transports: [] });
  }

  /** Answers the challenge of a sign-in. */
  shown(challenge: string) {
    const data = this.#data(VERIFIED);
    const clientDataJSON = this.#clientData('webauthn.get', challenge);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = base64(sign('sha256', signed, this.#own));
    return this.#answer({ clientDataJSON, authenticatorData: base64(data), signature });
  }

  /** Adds this passkey to the account of a browser that signed in just now. */
  async addTo(browser: ConsoleBrowser, name = 'phone'): Promise<void> {
    const { challenge } = await browser.get('account.passkey-begin', {});
    await browser.get('account.passkey-add', { name, response: this.made(challenge) });
  }

  #data(flags: number, ...more: Buffer[]): Buffer {
    const site = sha256(new URL(this.origin).hostname);
    return Buffer.concat([site, Buffer.from([flags, 0, 0, 0, 0]), ...more]);
  }

  #clientData = (type: string, challenge: string) =>
    base64(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false }));

  #answer(response: object) {
    const id = base64(this.#id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

/**
 * Challenges of passkeys. A challenge is signed in place of being stored, so strangers can ask for
 * any number and take none from others; a row says only that a passkey answered one.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Core } from '../core.ts';
import { hashKey } from '../secret.ts';

const CHALLENGE_MS = 300_000;
/** The most challenges that the passkeys of an account use up in that time. */
const USED_MAX = 100;
/** It has its end, random bytes, and a MAC of both and of its account. */
const UNTIL_BYTES = 6;
const BODY_BYTES = 24;
const MAC_BYTES = 16;
const CHALLENGE = /^[-_A-Za-z0-9]{54}$/;

const untilIn = (body: Buffer) => body.readUIntBE(0, UNTIL_BYTES);

async function macOf({ store }: Core, accountId: number | null, body: Buffer): Promise<Buffer> {
  const mac = createHmac('sha256', await store.readSigningKey());
  return mac
    .update(`challenge ${accountId ?? ''}\n`)
    .update(body)
    .digest()
    .subarray(0, MAC_BYTES);
}

/** Makes a challenge for an account; null: for any. It is good for five minutes. */
export async function makeChallenge(
  core: Core,
  accountId: number | null,
  nowMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const body = randomBytes(BODY_BYTES);
  body.writeUIntBE(nowMs + CHALLENGE_MS, 0, UNTIL_BYTES);
  return new Uint8Array(Buffer.concat([body, await macOf(core, accountId, body)]));
}

/** The challenge in an answer of a passkey. */
export class ShownChallenge {
  #body: Buffer | null = null;

  /** `accountId`: as the challenge was made. */
  constructor(
    private readonly core: Core,
    private readonly accountId: number | null,
    private readonly nowMs: number,
  ) {}

  /** Returns whether the challenge was made here and is not over. */
  isOpen = async (challenge: string): Promise<boolean> => {
    if (!CHALLENGE.test(challenge)) return false;
    const bytes = Buffer.from(challenge, 'base64url');
    const body = bytes.subarray(0, BODY_BYTES);
    const mac = await macOf(this.core, this.accountId, body);
    if (!timingSafeEqual(mac, bytes.subarray(BODY_BYTES))) return false;
    this.#body = body;
    // Of a clock that went ahead and came back, none is good for longer.
    const leftMs = untilIn(body) - this.nowMs;
    return leftMs > 0 && leftMs <= CHALLENGE_MS;
  };

  /** Uses it up for an account whose passkey answered it. Returns false if it was used. */
  use(accountId: number): Promise<boolean> {
    const { nowMs } = this;
    const body = this.#body;
    if (body === null) throw new Error('the library asked isOpen first');
    const secretHash = hashKey(body.toString('base64url'));
    const used = { secretHash, accountId, untilMs: untilIn(body), countMax: USED_MAX, nowMs };
    return this.core.store.useChallenge(used);
  }
}

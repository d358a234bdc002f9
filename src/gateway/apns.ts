/** APNs: pushes to Apple's devices, with a token that is signed again every 45 minutes. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { isApnsToken } from '../core/message/push-address.ts';
import type { AttemptVerdict, Gateway } from '../core/outbox/carrier.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress } from '../core/port/registration.ts';
import { AnswerJudge } from './answer.ts';
import { APNS_ANSWERS, apnsDeadSinceMs, apnsReason } from './apns-answers.ts';
import { fitted, PAYLOAD_BYTES_MAX, PayloadCache } from './fit.ts';
import { GATEWAY_CALL, type GatewayParts, NO_ADDRESS } from './parts.ts';
import { TokenKeeper } from './token.ts';

const CONCURRENCY = 64;
/** Apple accepts a signature for an hour, and a new one after 20 minutes at the earliest, ms. */
const TOKEN_LIFE_MS = 45 * 60_000;

/** The signing key of the team, and the app. */
interface ApnsAccount {
  key: KeyObject;
  keyId: string;
  teamId: string;
  topic: string;
}

export class Apns implements Gateway {
  readonly concurrency = CONCURRENCY;
  /** Apple binds a connection to one key and topic: with another key it answers 403 there. */
  readonly #connections: { pool: string };
  readonly #tokens: TokenKeeper;
  readonly #answers = new AnswerJudge({
    service: 'APNs',
    rows: APNS_ANSWERS,
    codeOf: ({ status, text }) => (status === 200 ? null : apnsReason(text)),
    deadSinceMs: ({ status, text }) => (status === 410 ? apnsDeadSinceMs(text) : null),
  });
  readonly #payloads = new PayloadCache();

  constructor(
    private readonly account: ApnsAccount,
    private readonly endpoint: string,
    private readonly parts: GatewayParts,
  ) {
    this.#connections = { pool: `apns ${fingerprintOf(account)}` };
    this.#tokens = new TokenKeeper((nowMs) => this.#sign(nowMs), parts.clock.nowMs);
  }

  async send(
    address: PushAddress,
    content: PushContent,
    signal: AbortSignal,
  ): Promise<AttemptVerdict> {
    const { token } = address;
    if (typeof token !== 'string' || !isApnsToken(token)) return NO_ADDRESS;
    const signature = await this.#tokens.get(signal);
    if (typeof signature !== 'string') return signature;
    const url = `${this.endpoint}/3/device/${token}`;
    const answer = await this.parts.outgoing.send(
      {
        ...GATEWAY_CALL,
        destination: 'apns',
        url,
        trust: 'operator',
        http2: this.#connections,
        headers: { authorization: `bearer ${signature}`, ...this.#headersOf(token, content) },
        body: this.#payloads.of(content, 0, () => fitted(content, PAYLOAD_BYTES_MAX, compose)),
        originConcurrency: CONCURRENCY,
      },
      signal,
    );
    return this.#answers.classify(answer, this.#tokens.used(signature));
  }

  #headersOf(token: string, { id, kind, isUrgent, expiresAtMs }: PushContent) {
    return {
      'content-type': 'application/json',
      'apns-topic': this.account.topic,
      'apns-push-type': kind === 'command' ? 'background' : 'alert',
      'apns-priority': isUrgent ? '10' : '5',
      'apns-expiration': String(Math.floor(expiresAtMs / 1000)),
      'apns-collapse-id': String(id),
      'apns-id': apnsId(id, token),
    };
  }

  async #sign(nowMs: number) {
    const { key, keyId, teamId } = this.account;
    const value = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(nowMs / 1000))
      .sign(key);
    return { value, lifeMs: TOKEN_LIFE_MS };
  }
}

/** Returns a name for key and topic that reveals neither. */
function fingerprintOf({ key, keyId, teamId, topic }: ApnsAccount): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  return Bun.CryptoHasher.hash('sha256', `${publicKey} ${keyId} ${teamId} ${topic}`, 'hex');
}

/**
 * Returns the id of a message to one device, the same in every attempt: a UUID of version 8
 * (RFC 9562) that ends in the id of the distribution (48 bits); the rest is a hash of the token.
 */
export function apnsId(distributionId: number, token: string): string {
  const hash = Bun.CryptoHasher.hash('sha256', token, 'hex');
  const id = distributionId.toString(16).padStart(12, '0').slice(-12);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${id}`;
}

/** Returns the payload: Apple's part in `aps`, and the fields that the app reads. */
function compose(content: PushContent): Record<string, unknown> {
  const { id, kind, title, body, image, link, isUrgent, inboxMessage } = content;
  const alert = { ...(title !== null && { title }), ...(body !== null && { body }) };
  const aps =
    kind === 'command'
      ? { 'content-available': 1 }
      : // Lets a service extension of the app fetch the picture.
        { alert, 'mutable-content': 1, ...(isUrgent && { sound: 'default' }) };
  return {
    aps,
    id,
    kind,
    ...(link !== null && { link }),
    ...(image !== null && { image }),
    ...(inboxMessage !== null && { message: JSON.parse(inboxMessage) as unknown }),
  };
}

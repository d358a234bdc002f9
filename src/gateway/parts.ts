/** Parts that the gateways share. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

export interface GatewayParts {
  outgoing: Pick<Outgoing, 'send'>;
  clock: Pick<Clock, 'nowMs'>;
}

/** Bounds of an answer of a gateway. */
export const ANSWER_BOUNDS = { bytesMax: 16 * 1024, valuesMax: 200 };

/** The options of every call to a gateway. */
export const GATEWAY_CALL = {
  method: 'POST',
  timeoutMs: 10_000,
  answerBytesMax: ANSWER_BOUNDS.bytesMax,
} as const;

/** The verdict on an address of another gateway, in rows from before addresses were checked. */
export const NO_ADDRESS: AttemptVerdict = {
  verdict: 'dead',
  problem: 'the registered address does not belong to this gateway',
};

/** The longest time for which FCM and push services keep a message: four weeks, s. */
const TTL_SECONDS_MAX = 2_419_200;

/** Returns the time for which FCM or a push service must keep a message, s. */
export function ttlSeconds({ expiresAtMs }: PushContent, nowMs: number): number {
  const leftSeconds = Math.floor((expiresAtMs - nowMs) / 1000);
  return Math.min(Math.max(leftSeconds, 0), TTL_SECONDS_MAX);
}

/** Reads a key that signs by ES256; or returns what is wrong with it, to follow the file's name. */
export function readSigningKey(text: string): KeyObject | string {
  try {
    const key = createPrivateKey(text);
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 ? key : 'has another kind of key: it must be on the curve P-256';
  } catch {
    return 'has no private key in PEM';
  }
}

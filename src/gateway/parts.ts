/** What gateways have in common. */

import type { Clock } from '../clock.ts';
import type { Verdict } from '../core/outbox/carrier.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

/** The means of a gateway. */
export interface GatewayParts {
  outgoing: Pick<Outgoing, 'send'>;
  clock: Pick<Clock, 'nowMs'>;
}

/** Size and number of values that an answer of a gateway may have. */
export const ANSWER_BOUNDS = { bytesMax: 16 * 1024, valuesMax: 200 };

/** The same in every call to a gateway. */
export const GATEWAY_CALL = {
  method: 'POST',
  timeoutMs: 10_000,
  answerBytesMax: ANSWER_BOUNDS.bytesMax,
} as const;

/** The verdict of an address that is none of the gateway's: rows from before it was checked. */
export const NO_ADDRESS: Verdict = {
  verdict: 'dead',
  problem: 'what the device registered is no address of this gateway',
};

/** FCM and push services keep nothing for longer: four weeks, s. */
const TTL_SECONDS_MAX = 2_419_200;

/** Time for which FCM or a push service is to keep a message for its device, s. */
export function ttlSeconds({ expiresAtMs }: PushContent, nowMs: number): number {
  const leftSeconds = Math.floor((expiresAtMs - nowMs) / 1000);
  return Math.min(Math.max(leftSeconds, 0), TTL_SECONDS_MAX);
}

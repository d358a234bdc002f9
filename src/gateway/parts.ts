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

/** Longest time for a call to a gateway, ms. */
export const GATEWAY_TIMEOUT_MS = 10_000;

/** The verdict of an address that is none of the gateway's: rows from before it was checked. */
export const NO_ADDRESS: Verdict = {
  verdict: 'dead',
  problem: 'what the device registered is no address of this gateway',
};

/** Seconds until nobody needs a message any more. */
export function secondsLeft({ expiresAtMs }: PushContent, nowMs: number): number {
  return Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000));
}

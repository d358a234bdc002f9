/** The destinations of pushes. */

import type { PushAddress, PushGateway } from '../port/registration.ts';

/** The key of a gateway's destination; Web Push has one for each push service. */
export interface GatewayKey {
  kind: PushGateway;
  /** Origin of the push service; else empty. */
  origin: string;
}

/** Returns the destination of an address; null: rows from before 0.6.0 may have none. */
export function destinationOf({ gateway, token }: PushAddress): GatewayKey | null {
  if (gateway !== 'webpush') {
    return typeof token === 'string' ? { kind: gateway, origin: '' } : null;
  }
  if (typeof token !== 'object') return null;
  const origin = URL.parse(token.endpoint)?.origin;
  return origin === undefined || origin === 'null' ? null : { kind: gateway, origin };
}

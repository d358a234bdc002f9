/** Whom a push goes to. */

import type { PushAddress, PushGateway } from '../port/registration.ts';

/** The key of a gateway's destination: there is one for each push service of Web Push. */
export interface GatewayKey {
  kind: PushGateway;
  /** Of the push service; else empty. */
  origin: string;
}

/**
 * The destination of an address; null: it is none that can be sent to, as rows of before 0.6.0 may
 * have it.
 */
export function destinationOf({ gateway, token }: PushAddress): GatewayKey | null {
  if (gateway !== 'webpush') {
    return typeof token === 'string' ? { kind: gateway, origin: '' } : null;
  }
  if (typeof token !== 'object') return null;
  const origin = URL.parse(token.endpoint)?.origin;
  return origin === undefined || origin === 'null' ? null : { kind: gateway, origin };
}

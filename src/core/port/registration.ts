/** Registrations for messages: their records, and the part of the port that remembers them. */

import type { DeviceFacts } from './device.ts';
import type { AdmitRefusal } from './slot.ts';

export const PUSH_GATEWAYS = ['fcm', 'apns', 'webpush'] as const;

export type PushGateway = (typeof PUSH_GATEWAYS)[number];

/** The standard subscription object of Web Push; 0.5.0 and before took it without keys too. */
export interface PushSubscription {
  endpoint: string;
  expirationTime?: number;
  keys: { p256dh?: string; auth?: string };
}

/** A faster way to the same inbox; for webpush `token` is the subscription. */
export interface PushAddress {
  gateway: PushGateway;
  token: string | PushSubscription;
}

export type RegisterRefusal =
  | Exclude<AdmitRefusal, 'key_ambiguous'>
  | 'provider_not_found'
  | 'domain_not_bound'
  | 'registration_refused';

/** Evidence for a HWID beside its token, well formed. */
export type Shown =
  | { kind: 'link'; installCode: string; domainHash: string }
  | { kind: 'binding'; providerCode: string; domainHash: string }
  /** The provider that a device names without a binding merely sees it. */
  | { kind: 'nothing'; providerCode: string | null };

export interface NewRegistration {
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress | null;
  shown: Shown;
  tokenHash: Uint8Array;
  /** SHA-256 of the token that the device shows; null: it shows none. */
  heldTokenHash: Uint8Array | null;
  nowMs: number;
}

export interface RegistrationStore {
  /**
   * Gives the new token what `judge` of core/message/registration-rule.ts allows, and attaches the
   * device by the evidence that it shows. A refusal changes nothing.
   */
  registerDevice(
    registration: NewRegistration,
  ): Promise<{ deviceId: number } | Exclude<RegisterRefusal, 'hwid_required'>>;
  /**
   * `lastSeenAtMs`: since then the token was shown, and the device was seen where the token has a
   * place, with all its slots.
   */
  findDeviceByToken(
    tokenHash: Uint8Array,
  ): Promise<{ id: number; hwid: string; tokenId: number; lastSeenAtMs: number } | null>;
  /** The addresses of a device's tokens, for an operator's trial push. Null: nobody knows it. */
  listPushAddresses(hwid: string): Promise<{ push: PushAddress; locale: string | null }[] | null>;
}

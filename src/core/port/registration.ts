/** Registrations for messages: their records and their part of the port. */

import type { DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { AdmitRefusal } from './slot.ts';

export const PUSH_GATEWAYS = ['fcm', 'apns', 'webpush'] as const;

export type PushGateway = (typeof PUSH_GATEWAYS)[number];

/** The subscription object of Web Push; versions up to 0.5.0 took it without keys too. */
export interface PushSubscription {
  endpoint: string;
  expirationTime?: number;
  keys: { p256dh?: string; auth?: string };
}

/** The push address of a device; for `webpush` the token is the subscription. */
export interface PushAddress {
  gateway: PushGateway;
  token: string | PushSubscription;
  /** The page that shows the messages of a link's browser. */
  page?: string;
}

export type RegisterRefusal =
  | Exclude<AdmitRefusal, 'key_ambiguous'>
  | 'provider_not_found'
  | 'domain_not_bound'
  | 'registration_refused';

/** Evidence for a HWID beside its token; all fields are well formed. */
export type Shown =
  | { kind: 'link'; installCode: string; domainHash: string }
  /** A link on which the device must have a slot; it takes no place from another token. */
  | { kind: 'slot'; installCode: string; domainHash: string }
  | { kind: 'binding'; providerCode: string; domainHash: string }
  /** A provider without a binding sees the device, which stays unattached. */
  | { kind: 'nothing'; providerCode: string | null };

export interface NewRegistration {
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress | null;
  shown: Shown;
  tokenHash: Uint8Array;
  /** SHA-256 of the present token that the device shows; null: it shows none. */
  heldTokenHash: Uint8Array | null;
  /** True: phones that send its HWID are not told apart. */
  isPrivate?: boolean;
  nowMs: number;
}

export interface RegistrationStore {
  /**
   * Saves a new token with the inboxes that `judge` of core/message/registration-rule.ts allows,
   * and attaches the device by its evidence. A refusal changes nothing.
   */
  registerDevice(registration: NewRegistration): Promise<{ deviceId: number } | RegisterRefusal>;
  /**
   * Finds the device of a token; null: none. `lastSeenAtMs` is the earliest of the times at which
   * the token was last shown, and its providers last saw the device and each of its slots;
   * `providerId` is the first provider that the token reads messages of, null: of none;
   * `hasStream` is 1 if {@link noteStream} was called; `ended` has the ends that no answer has
   * carried, for `readEnded` of ended.ts.
   */
  findDeviceByToken(tokenHash: Uint8Array): Promise<{
    id: number;
    hwid: string;
    tokenId: number;
    lastSeenAtMs: number;
    providerId: number | null;
    hasStream: number;
    ended: string | null;
  } | null>;
  /**
   * Returns whether a token has a place at a provider with an active binding of a domain, where
   * discovery is on; or had its last one there.
   */
  isDiscoveredAt(tokenHash: Uint8Array, domainHash: string): Maybe<boolean>;
  /** Finds the link that a token showed, while its device has a slot there; null: none. */
  findShownLink(tokenId: number): Maybe<number | null>;
  /** Records that the app of a token opened a stream. */
  noteStream(tokenId: number): Promise<void>;
  /** Lists the push addresses of a device's tokens. Returns null if no device has the HWID. */
  listPushAddresses(hwid: string): Promise<{ push: PushAddress; locale: string | null }[] | null>;
}

/** The messaging protocol: how a device registers, fetches what is due to it, and acknowledges. */

import type { Core } from './core.ts';
import { checkIn, type DeviceFacts, HWID, tidyFacts } from './device.ts';
import type { DistributionType } from './distribution.ts';
import { type AdmitRefusal, admitDevice } from './install.ts';
import type { Proof, RegistrationClaim, RegistrationFacts, TokenHolder } from './message-store.ts';
import { hashKey, randomToken, sameHash } from './secret.ts';

/**
 * The most messages in one answer, and the bytes of payload after which no further one is added:
 * data to import may be hundreds of kilobytes.
 */
export const INBOX_LIMITS = { countMax: 100, bytesMax: 256 * 1024 };
/** The most acknowledgements in one call. */
export const ACK_COUNT_MAX = 100;

/** 256 random bits in base64url. */
export const DEVICE_TOKEN = /^[-_A-Za-z0-9]{43}$/;

export const ACK_STATES = ['received', 'opened', 'executed', 'failed'] as const;
export type AckState = (typeof ACK_STATES)[number];

export interface AckItem {
  id: number;
  state: AckState;
  /** Why it failed. */
  detail: string | null;
}

export const PUSH_GATEWAYS = ['fcm', 'apns', 'webpush'] as const;

/** The standard subscription object of Web Push. */
export interface PushSubscription {
  endpoint: string;
  expirationTime?: number;
  keys: { p256dh?: string; auth?: string };
}

/** A faster way to the same inbox; for webpush `token` is the subscription. */
export interface PushAddress {
  gateway: (typeof PUSH_GATEWAYS)[number];
  token: string | PushSubscription;
}

export interface Message {
  /** The distribution's id: the same in every copy. */
  id: number;
  notificationType: DistributionType;
  createdAtMs: number;
  expiresAtMs: number;
  payload: unknown;
}

export interface Registration {
  hwid: string | null;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress | null;
  installCode: string | null;
  domainHash: string | null;
  providerCode: string | null;
  /** The token that the device holds already, if it sent one. */
  token: string | null;
}

export type RegisterRefusal =
  | AdmitRefusal
  | 'provider_not_found'
  | 'domain_not_bound'
  | 'registration_refused';

/**
 * Registers a device for messages and returns its token, for the only time; an older token dies.
 *
 * A HWID is no secret, so it opens nothing by itself. A token reads what a provider sends to its
 * linked devices only if a link or binding of that provider was shown with it:
 *
 * - A link speaks for a HWID if no other link of its provider has had the HWID for longer: anybody
 *   with a link of their own can put a HWID on it. It opens what was sent since the HWID is on it.
 * - A binding is known to all of a provider's users. It speaks for a HWID that is on none of the
 *   provider's links, or that never had a token, and opens what is sent from now on.
 *
 * A HWID that has a token is only registered again with that token, which keeps what it opens; or
 * with a link that speaks for it, if the token was shown such a link of the same provider, or
 * nothing of any provider, or is younger than the HWID's place on the link, which must be its
 * first: a link that it was put on later takes no token away. A HWID alone gets a token if it has
 * none and is linked to nobody; what is sent from then on to it as an unbound device is all that it
 * opens. All else is `registration_refused`.
 *
 * What is shown links the device, with the refusals of `admitDevice`; `provider_not_found` and
 * `domain_not_bound` for a binding that is not there.
 */
export async function registerDevice(
  core: Core,
  registration: Registration,
  nowMs: number,
): Promise<{ deviceId: number; token: string } | RegisterRefusal> {
  const { hwid, installCode, domainHash, providerCode } = registration;
  if (hwid === null || !HWID.test(hwid)) return 'hwid_required';
  const claim = { hwid, installCode, domainHash, providerCode };
  const before = await core.store.findRegistration(claim);
  const isContinued = holdsToken(before, registration.token);
  if (!mayRegister(before, isContinued, registration)) return 'registration_refused';

  const linked = await link(core, registration, hwid, nowMs);
  if (linked !== 'linked' && linked !== 'nothing_shown') return linked;
  const isNew = before.tokenHash === null;
  const proof = linked === 'linked' ? await prove(core, claim, isNew, isContinued, nowMs) : null;
  if (typeof proof === 'string') return proof;

  const token = randomToken();
  const registered = await core.store.registerDevice({
    hwid,
    facts: tidyFacts(registration.facts),
    locale: registration.locale,
    push: registration.push,
    tokenHash: hashKey(token),
    replacesTokenHash: before.tokenHash,
    isContinued,
    proof,
    nowMs,
  });
  if (registered === 'registration_refused') return registered;
  // Whoever still listens with the old token has to find out.
  core.signals.messagesFor(registered.deviceId);
  return { deviceId: registered.deviceId, token };
}

function holdsToken({ tokenHash }: RegistrationFacts, token: string | null): boolean {
  return tokenHash !== null && token !== null && sameHash(tokenHash, hashKey(token));
}

/** See {@link registerDevice}. A link or binding that is not good is refused when it is used. */
function mayRegister(
  { tokenHash, isLinked, hasProofs, link, binding }: RegistrationFacts,
  isHolder: boolean,
  { installCode, domainHash, providerCode }: Registration,
): boolean {
  const isNew = tokenHash === null;
  if (installCode !== null) {
    if (link === null) return isNew || isHolder;
    if (isHolder) return link.speaks || link.proven !== null;
    return link.speaks && (isNew || link.isElder || link.proven === 'link' || !hasProofs);
  }
  if (providerCode !== null && domainHash !== null) {
    if (binding === null) return isNew || isHolder;
    return isNew || (isHolder && (binding.speaks || binding.proven !== null));
  }
  return isHolder || (isNew && !isLinked);
}

/** Links the device through what it shows. */
async function link(
  core: Core,
  { facts, installCode, domainHash, providerCode }: Registration,
  hwid: string,
  nowMs: number,
): Promise<RegisterRefusal | 'linked' | 'nothing_shown'> {
  if (installCode !== null) {
    const admitted = await admitDevice(core, { installCode, domainHash, hwid }, facts, nowMs);
    return typeof admitted === 'string' ? admitted : 'linked';
  }
  if (providerCode === null) return 'nothing_shown';
  const seen = await checkIn(core, { providerCode, domainHash, hwid }, facts, nowMs);
  if (seen !== 'ok') return seen;
  return domainHash === null ? 'nothing_shown' : 'linked';
}

/** What the claim opens, now that the device is linked through it. */
async function prove(
  core: Core,
  claim: RegistrationClaim,
  isNew: boolean,
  isHolder: boolean,
  nowMs: number,
): Promise<Proof | null | 'registration_refused' | 'domain_not_bound'> {
  const { link, binding } = await core.store.findRegistration(claim);
  const isByLink = claim.installCode !== null;
  const tie = isByLink ? link : binding;
  if (tie === null || tie.sinceMs === null) {
    return isByLink ? 'registration_refused' : 'domain_not_bound';
  }
  if (tie.speaks || (isNew && !isByLink)) {
    const by = isByLink ? 'link' : 'binding';
    return { providerId: tie.providerId, by, fromMs: isByLink ? tie.sinceMs : nowMs };
  }
  // Otherwise the HWID got onto an older link meanwhile.
  return isHolder && tie.proven !== null ? null : 'registration_refused';
}

/** A device that showed its token. */
export interface AuthenticDevice extends TokenHolder {
  hwid: string;
}

/** The device whose token this is, or null. */
export async function authenticateDevice(
  core: Core,
  token: string | null,
): Promise<AuthenticDevice | null> {
  if (token === null || !DEVICE_TOKEN.test(token)) return null;
  const tokenHash = hashKey(token);
  const found = await core.store.findDeviceByToken(tokenHash);
  return found && { ...found, tokenHash };
}

/**
 * What waits for a device, oldest first, as much as {@link INBOX_LIMITS} let through. With nothing
 * there it waits for up to `waitMs`, or until `signal` is aborted. `device_token_error` if the
 * token died meanwhile.
 */
export async function fetchInbox(
  core: Core,
  device: TokenHolder,
  waitMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Message[] | 'device_token_error'> {
  const bell = listen(core, device.id, waitMs, signal);
  try {
    for (;;) {
      // Armed before the look: what arrives in between is not missed.
      const rung = bell.next();
      const { messages } = await core.store.listInbox(device, nowMs, INBOX_LIMITS);
      if (messages.length > 0) return messages;
      if ((await core.store.findDeviceByToken(device.tokenHash)) === null) {
        return 'device_token_error';
      }
      if (bell.isOver()) return messages;
      await rung;
    }
  } finally {
    bell.stop();
  }
}

/** Notes what a device says of its messages. Coming twice, late or unasked, it changes nothing. */
export function acknowledge(
  core: Core,
  device: TokenHolder,
  items: readonly AckItem[],
  nowMs: number,
): Promise<void> {
  return core.store.acknowledge(device, items, nowMs);
}

/** Rings when there may be messages, and once more when the time is over or the caller is gone. */
function listen(core: Core, deviceId: number, waitMs: number, signal: AbortSignal) {
  let isOver = waitMs === 0 || signal.aborted;
  let ring: () => void = () => {};
  const stopListening = core.signals.onMessages(deviceId, () => ring());
  const end = () => {
    isOver = true;
    ring();
  };
  const timer = setTimeout(end, waitMs);
  signal.addEventListener('abort', end);
  return {
    isOver: () => isOver,
    next: () =>
      new Promise<void>((resolve) => {
        ring = resolve;
      }),
    stop() {
      stopListening();
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    },
  };
}

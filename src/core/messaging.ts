/** The messaging protocol: how a device registers, fetches what is due to it, and acknowledges. */

import type { Core } from './core.ts';
import { checkIn, type DeviceFacts, HWID, tidyFacts } from './device.ts';
import type { DistributionType } from './distribution.ts';
import { type AdmitRefusal, admitDevice } from './install.ts';
import type { RegistrationFacts } from './message-store.ts';
import { hashKey, randomToken, sameHash } from './secret.ts';

/** The most messages in one answer. */
export const INBOX_COUNT_MAX = 100;
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

/** A faster way to the same inbox; for webpush `token` is the standard subscription object. */
export interface PushAddress {
  gateway: (typeof PUSH_GATEWAYS)[number];
  token: string | Readonly<Record<string, unknown>>;
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
 * A HWID is no secret. Whoever names one that has a token, or that something may be addressed to
 * already, must show the token, or a link that it is on, or (if it never had a token) the binding
 * that it is linked through; otherwise `registration_refused`. A HWID alone gets an inbox, but an
 * unproven one: it holds nothing from before, and nothing that is addressed to a provider's linked
 * devices, until the device registers again with a link or a binding. What is shown links the
 * device, with the refusals of `admitDevice`; `provider_not_found` and `domain_not_bound` for a
 * binding that is not there.
 */
export async function registerDevice(
  core: Core,
  registration: Registration,
  nowMs: number,
): Promise<{ deviceId: number; token: string } | RegisterRefusal> {
  const { hwid, installCode, domainHash, providerCode } = registration;
  if (hwid === null || !HWID.test(hwid)) return 'hwid_required';
  const claim = { hwid, installCode, domainHash, providerCode };
  const tokenHash = registration.token === null ? null : hashKey(registration.token);
  const before = await core.store.findRegistration({ ...claim, tokenHash });
  const proof = proofOf(before, tokenHash);
  if (proof === 'refused') return 'registration_refused';

  const linked = await link(core, registration, hwid, nowMs);
  if (linked !== 'linked' && linked !== 'nothing_shown') return linked;

  const token = randomToken();
  const registered = await core.store.registerDevice({
    hwid,
    facts: tidyFacts(registration.facts),
    locale: registration.locale,
    push: registration.push,
    tokenHash: hashKey(token),
    replacesTokenHash: before.tokenHash,
    unprovenFromMs:
      linked === 'linked' ? null : (before.unprovenFromMs ?? (proof === 'free' ? nowMs : null)),
    nowMs,
  });
  if (registered === 'registration_refused') return registered;
  // Whoever still listens with the old token has to find out.
  core.signals.messagesFor(registered.deviceId);
  return { deviceId: registered.deviceId, token };
}

/** May it have the HWID? `free`: nobody has, and nothing could be addressed to it yet. */
function proofOf(facts: RegistrationFacts, tokenHash: Uint8Array | null) {
  const { tokenHash: current } = facts;
  if (current !== null && tokenHash !== null && sameHash(current, tokenHash)) return 'proven';
  if (facts.isOnClaimedLink) return 'proven';
  if (current !== null) return 'refused';
  if (facts.isOnClaimedBinding) return 'proven';
  return facts.isLinked ? 'refused' : 'free';
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
  if (domainHash === null) return 'nothing_shown';
  const claim = { hwid, tokenHash: null, installCode, domainHash, providerCode };
  const linked = await core.store.findRegistration(claim);
  return linked.isOnClaimedBinding ? 'linked' : 'domain_not_bound';
}

/** The device whose token this is, or null. */
export async function authenticateDevice(
  core: Core,
  token: string | null,
): Promise<{ id: number; hwid: string } | null> {
  if (token === null || !DEVICE_TOKEN.test(token)) return null;
  return core.store.findDeviceByToken(hashKey(token));
}

/**
 * What waits for a device, oldest first, at most {@link INBOX_COUNT_MAX}. With nothing there it
 * waits for up to `waitMs`, or until `signal` is aborted.
 */
export async function fetchInbox(
  core: Core,
  deviceId: number,
  waitMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Message[]> {
  const bell = listen(core, deviceId, waitMs, signal);
  try {
    for (;;) {
      // Armed before the look: what arrives in between is not missed.
      const rung = bell.next();
      const atMs = bell.isOver() ? nowMs + waitMs : nowMs;
      const messages = await core.store.listInbox(deviceId, atMs, INBOX_COUNT_MAX);
      if (messages.length > 0 || bell.isOver()) return messages;
      await rung;
    }
  } finally {
    bell.stop();
  }
}

/** Notes what a device says of its messages. Coming twice, late or unasked, it changes nothing. */
export function acknowledge(
  core: Core,
  deviceId: number,
  items: readonly AckItem[],
  nowMs: number,
): Promise<void> {
  return core.store.acknowledge(deviceId, items, nowMs);
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

/** Devices: the facts that they report, their daily call and their tokens. */

import { actAt } from './audit/entry.ts';
import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { FACT_FIELDS } from './device-facts.ts';
import {
  derivedFrom,
  hwidOfHash,
  readDeviceToken,
  readDomainHash,
  readOwnHwid,
  readProviderCode,
} from './formats.ts';
import { isRefused, orUnsaved, Refused } from './outcome.ts';
import type { DeviceAtProvider, DeviceFacts } from './port/device.ts';
import type { RefusedDevice } from './port/figure.ts';
import type { TokenHolder } from './port/inbox.ts';
import { after, type Maybe } from './port/maybe.ts';
import { withoutPrivate } from './privacy.ts';
import { hashKey, hwidHash } from './secret.ts';
import { tidyFact } from './text.ts';

const FACT_LENGTH_MAX = 128;

/**
 * The most bindings of a provider to which a device is attached; one more detaches it from the
 * oldest. Each message reads which of them are active.
 */
export const TIES_MAX = 16;

/** Cleans facts before they are stored; the operating system gets the name that targets use. */
export function tidyFacts(reported: DeviceFacts): DeviceFacts {
  return {
    os: osName(tidyFact(reported.os, FACT_LENGTH_MAX)),
    osVersion: tidyFact(reported.osVersion, FACT_LENGTH_MAX),
    deviceName: tidyFact(reported.deviceName, FACT_LENGTH_MAX),
    appVersion: tidyFact(reported.appVersion, FACT_LENGTH_MAX),
    userAgent: tidyFact(reported.userAgent, FACT_LENGTH_MAX),
  };
}

/** The most characters of a text about a refused device. */
const REFUSED_LENGTH_MAX = 64;

/** Returns a device in the form in which its refusal is stored. `hwid` is empty if it sent none. */
export function refusedDevice(
  hwid: string,
  facts: DeviceFacts | null,
  formerHwid: string | null = null,
  address: string | null = null,
): RefusedDevice {
  const at = address === null ? {} : { address };
  if (facts === null) return { hwid, deviceName: '', os: '', ...at };
  const deviceName = tidyFact(facts.deviceName, REFUSED_LENGTH_MAX);
  const device = { hwid, deviceName, os: tidyFact(osName(facts.os), REFUSED_LENGTH_MAX), ...at };
  return formerHwid === null ? device : { ...device, formerHwid };
}

/** Returns `ios` for iOS and iPadOS, `android` for Android, else the name as reported. */
export function osName(reported: string): string {
  if (/^(ios|ipados|iphone ?os)\b/i.test(reported)) return 'ios';
  if (/^android\b/i.test(reported)) return 'android';
  return reported;
}

/** Merges facts: reported ones replace known ones, empty ones erase nothing. */
export function mergeFacts(known: DeviceFacts, reported: DeviceFacts): DeviceFacts {
  return {
    os: reported.os || known.os,
    osVersion: reported.osVersion || known.osVersion,
    deviceName: reported.deviceName || known.deviceName,
    appVersion: reported.appVersion || known.appVersion,
    userAgent: reported.userAgent || known.userAgent,
  };
}

/**
 * Merges facts of an unproven report, which any caller with the HWID can send. It cannot change the
 * operating system of a registered device, which decides on the messages that reach it.
 */
export function mergeUnproven(known: DeviceAtProvider, reported: DeviceFacts): DeviceFacts {
  const merged = mergeFacts(known, reported);
  if (known.isRegistered) merged.os = known.os;
  return merged;
}

/** Returns true if an unproven report would change no fact. */
export function changesNoFact(known: DeviceAtProvider, reported: DeviceFacts): boolean {
  const merged = mergeUnproven(known, reported);
  return FACT_FIELDS.every((fact) => merged[fact] === known[fact]);
}

const HWID_REQUIRED = new Refused('hwid_required');
const PROVIDER_NOT_FOUND = new Refused('provider_not_found');

/**
 * The standing of a device with its provider: `extended` if it is attached by a slot or an active
 * binding, else `basic`.
 */
export const STANDINGS = ['basic', 'extended'] as const;
type Standing = (typeof STANDINGS)[number];

/**
 * Records a device's daily call to its provider (`GET /provider`). The hash of an active binding
 * attaches the device. Writes nothing for a device that called today and attaches nothing new, nor
 * for a new one that `admitsNew` rejects: the call needs no credentials, and strangers must not
 * fill the table of devices. Returns the standing; refuses `hwid_required` and
 * `provider_not_found`.
 */
export function checkIn(
  core: Core,
  call: { providerCode: string | null; domainHash: string | null; hwid: string | null },
  facts: DeviceFacts,
  nowMs: number,
  admitsNew: () => boolean = () => true,
): Maybe<{ standing: Standing } | Refused<'hwid_required' | 'provider_not_found'>> {
  const hwid = readOwnHwid(call.hwid);
  if (isRefused(hwid)) return HWID_REQUIRED;
  const providerCode = readProviderCode(call.providerCode);
  if (isRefused(providerCode)) return PROVIDER_NOT_FOUND;
  const hash = readDomainHash(call.domainHash);

  const key = { providerCode, domainHash: isRefused(hash) ? null : hash, hwid };
  const isDerived = derivedFrom(hwid) !== null && core.store.isDerivedHwid(hwid);
  const found = after(isDerived, (is) =>
    is ? ('hwid_derived' as const) : core.store.findCheckIn(key),
  );
  return after(found, (known) => {
    if (known === 'hwid_derived') return HWID_REQUIRED;
    if (known === 'provider_not_found') return PROVIDER_NOT_FOUND;
    const { isLinked, isNewLink, seenAtMs } = known;
    const calledToday = seenAtMs !== null && sameUtcDay(seenAtMs, nowMs);
    if (calledToday && !isNewLink) return standingOf(isLinked);
    if (seenAtMs === null && !admitsNew()) return standingOf(isLinked);
    const recording = core.store.recordCheckIn(key, tidyFacts(withoutPrivate(core, facts)), nowMs);
    return after(orUnsaved(seenAtMs !== null && !isNewLink, recording), (recorded) =>
      recorded === 'provider_not_found' ? PROVIDER_NOT_FOUND : standingOf(isLinked || isNewLink),
    );
  });
}

function standingOf(isLinked: boolean): { standing: Standing } {
  return { standing: isLinked ? 'extended' : 'basic' };
}

/** A device that showed its token. */
export interface AuthenticDevice extends TokenHolder {
  hwid: string;
  /**
   * The id stays the same through renewals. A device may have several valid tokens, of several
   * users.
   */
  tokenId: number;
  /** The first provider that the token reads messages of; null: of none. */
  providerId: number | null;
  /** True: its app opened a stream before. */
  hasStream: boolean;
  /** Ends of which it has not been notified, for `readEnded`; null: none. */
  ended: string | null;
}

/** Saves that the app of a token opened a stream, once. Ignores a failure. */
export async function noteStream(core: Core, device: AuthenticDevice): Promise<void> {
  if (!device.hasStream) await orUnsaved(true, core.store.noteStream(device.tokenId));
}

/** Finds the device of a token. Returns null if the token is malformed or unknown. */
export async function authenticateDevice(
  core: Core,
  shownToken: string | null,
  nowMs: number,
): Promise<AuthenticDevice | null> {
  const token = readDeviceToken(shownToken);
  if (isRefused(token)) return null;
  const tokenHash = hashKey(token);
  const found = await core.store.findDeviceByToken(tokenHash);
  if (found === null) return null;
  const { lastSeenAtMs, hasStream, ...device } = found;
  if (!sameUtcDay(lastSeenAtMs, nowMs)) await noteSeen(core, device, nowMs);
  return { ...device, tokenHash, hasStream: hasStream === 1 };
}

/**
 * Returns whether a token has, or had until it ended, a place at a provider of the domain, where
 * discovery is on.
 */
export function isDiscoveredAt(
  core: Core,
  shownToken: string | null,
  domainHash: string,
): Maybe<boolean> {
  const token = readDeviceToken(shownToken);
  return isRefused(token) ? false : core.store.isDiscoveredAt(hashKey(token), domainHash);
}

/** Saves a device's call, once a day. Ignores a failure. */
export async function noteSeen(
  core: Core,
  { id, tokenId }: Pick<AuthenticDevice, 'id' | 'tokenId'>,
  nowMs: number,
): Promise<void> {
  await orUnsaved(true, core.store.noteSeen(id, tokenId, nowMs));
}

/**
 * Lists the names under which a HWID is stored: those of its further phones, its hash if a panel
 * gave no more, and its own, which is the last, as it leads to the others.
 */
export async function namesOfHwid({ store }: Core, hwid: string): Promise<string[]> {
  const hashed = hwidOfHash(hwidHash(hwid));
  const isHashed = hashed !== hwid && (await store.findDevice(hashed)) !== null;
  return [...(await store.listDerived(hwid)), ...(isHashed ? [hashed] : []), hwid];
}

/**
 * Erases a HWID everywhere, with the phones that send it. Refuses `device_not_found` if neither
 * device nor refusal has it.
 */
export async function forgetDevice(
  core: Core,
  hwid: string,
  nowMs: number,
): Promise<'ok' | Refused<'device_not_found'>> {
  let isFound = false;
  for (const name of await namesOfHwid(core, hwid)) {
    if ((await core.store.forgetDevice(name, actAt(core, nowMs))) === 'ok') isFound = true;
  }
  return isFound ? 'ok' : new Refused('device_not_found');
}

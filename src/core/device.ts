/** Devices: the facts they report, the daily call by which they stay known, and their tokens. */

import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { readDeviceToken, readDomainHash, readHwid, readProviderCode } from './formats.ts';
import { isRefused, Refused } from './outcome.ts';
import type { DeviceAtProvider, DeviceFacts } from './port/device.ts';
import type { TokenHolder } from './port/inbox.ts';
import { after, type Maybe } from './port/maybe.ts';
import { WriteFailed } from './port/store.ts';
import { hashKey } from './secret.ts';
import { tidyFact } from './text.ts';

const FACT_LENGTH_MAX = 128;

/**
 * Bindings of one provider to which a device is attached at most; one more detaches it from the
 * oldest. Each message looks up which of them are active.
 */
export const TIES_MAX = 16;

/** Makes facts fit to keep: tidy texts, the operating system under the name used for targets. */
export function tidyFacts(reported: DeviceFacts): DeviceFacts {
  return {
    os: osName(tidyFact(reported.os, FACT_LENGTH_MAX)),
    osVersion: tidyFact(reported.osVersion, FACT_LENGTH_MAX),
    deviceName: tidyFact(reported.deviceName, FACT_LENGTH_MAX),
    appVersion: tidyFact(reported.appVersion, FACT_LENGTH_MAX),
    userAgent: tidyFact(reported.userAgent, FACT_LENGTH_MAX),
  };
}

/** `ios` for iOS and iPadOS, `android` for Android, anything else as it came. */
export function osName(reported: string): string {
  if (/^(ios|ipados|iphone ?os)\b/i.test(reported)) return 'ios';
  if (/^android\b/i.test(reported)) return 'android';
  return reported;
}

/** The facts now known: a report wins, silence erases nothing. */
export function mergeFacts(known: DeviceFacts, reported: DeviceFacts): DeviceFacts {
  return mergeTexts(known, reported, reported.os || known.os);
}

/**
 * As {@link mergeFacts}, for a report without proof, as anybody who knows a HWID may make it. The
 * operating system decides which messages reach a device: once that is registered, it stays.
 */
export function mergeUnproven(known: DeviceAtProvider, reported: DeviceFacts): DeviceFacts {
  return mergeTexts(known, reported, known.isRegistered ? known.os : reported.os || known.os);
}

function mergeTexts(known: DeviceFacts, reported: DeviceFacts, os: string): DeviceFacts {
  return {
    os,
    osVersion: reported.osVersion || known.osVersion,
    deviceName: reported.deviceName || known.deviceName,
    appVersion: reported.appVersion || known.appVersion,
    userAgent: reported.userAgent || known.userAgent,
  };
}

/** True when the report holds nothing new. */
export function saysNothingNew(known: DeviceAtProvider, reported: DeviceFacts): boolean {
  const merged = mergeUnproven(known, reported);
  return (
    merged.os === known.os &&
    merged.osVersion === known.osVersion &&
    merged.deviceName === known.deviceName &&
    merged.appVersion === known.appVersion &&
    merged.userAgent === known.userAgent
  );
}

const HWID_REQUIRED = new Refused('hwid_required');
const PROVIDER_NOT_FOUND = new Refused('provider_not_found');

/**
 * The standing of a device with its provider: `extended` when it is linked, by a slot or by a
 * binding that is active, `basic` when it is only seen.
 */
export const STANDINGS = ['basic', 'extended'] as const;
type Standing = (typeof STANDINGS)[number];

/**
 * A device's daily call to its provider (`GET /provider`). With the hash of an active binding it
 * is attached to the provider; without one it is only seen. A device that called today and has
 * nothing new to attach writes nothing, nor does one that never called before and that `admitsNew`
 * does not admit: the call needs no credentials, and the table of devices must not be anybody's.
 *
 * Refuses `hwid_required` and `provider_not_found`.
 */
export function checkIn(
  core: Core,
  call: { providerCode: string | null; domainHash: string | null; hwid: string | null },
  facts: DeviceFacts,
  nowMs: number,
  admitsNew: () => boolean = () => true,
): Maybe<{ standing: Standing } | Refused<'hwid_required' | 'provider_not_found'>> {
  const hwid = readHwid(call.hwid);
  if (isRefused(hwid)) return HWID_REQUIRED;
  const providerCode = readProviderCode(call.providerCode);
  if (isRefused(providerCode)) return PROVIDER_NOT_FOUND;
  const hash = readDomainHash(call.domainHash);

  const key = { providerCode, domainHash: isRefused(hash) ? null : hash, hwid };
  return after(core.store.findCheckIn(key), (known) => {
    if (known === 'provider_not_found') return PROVIDER_NOT_FOUND;
    const { isLinked, isNewLink, seenAtMs } = known;
    const calledToday = seenAtMs !== null && sameUtcDay(seenAtMs, nowMs);
    if (calledToday && !isNewLink) return standingOf(isLinked);
    if (seenAtMs === null && !admitsNew()) return standingOf(isLinked);
    return after(core.store.recordCheckIn(key, tidyFacts(facts), nowMs), (recorded) =>
      recorded === 'ok' ? standingOf(isLinked || isNewLink) : PROVIDER_NOT_FOUND,
    );
  });
}

function standingOf(isLinked: boolean): { standing: Standing } {
  return { standing: isLinked ? 'extended' : 'basic' };
}

/** A device that showed its token. */
export interface AuthenticDevice extends TokenHolder {
  hwid: string;
  /** The same through every renewal. Of one device several tokens may be good, in several hands. */
  tokenId: number;
}

/** The device that a token belongs to, or null. */
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
  const { lastSeenAtMs, ...device } = found;
  if (!sameUtcDay(lastSeenAtMs, nowMs)) await noteSeen(core, device, nowMs);
  return { ...device, tokenHash };
}

/** Notes that a device is there, once a day. If that fails, tomorrow is early enough. */
export async function noteSeen(
  core: Core,
  { id, tokenId }: Pick<AuthenticDevice, 'id' | 'tokenId'>,
  nowMs: number,
): Promise<void> {
  try {
    await core.store.noteSeen(id, tokenId, nowMs);
  } catch (fault) {
    if (!(fault instanceof WriteFailed)) throw fault;
  }
}

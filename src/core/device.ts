/** Devices: what they say about themselves, and the daily call by which they stay known. */

import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { readDomainHash, readHwid, readProviderCode } from './formats.ts';
import { fromStore, isRefused, Refused } from './outcome.ts';
import type { DeviceAtProvider, DeviceFacts } from './port/device.ts';
import { after, type Maybe } from './port/maybe.ts';
import { tidyFact } from './text.ts';

const FACT_LENGTH_MAX = 128;

/** Makes facts fit to keep: tidy texts, the operating system under the name used for targets. */
export function tidyFacts(said: DeviceFacts): DeviceFacts {
  return {
    os: osName(tidyFact(said.os, FACT_LENGTH_MAX)),
    osVersion: tidyFact(said.osVersion, FACT_LENGTH_MAX),
    deviceName: tidyFact(said.deviceName, FACT_LENGTH_MAX),
    appVersion: tidyFact(said.appVersion, FACT_LENGTH_MAX),
    userAgent: tidyFact(said.userAgent, FACT_LENGTH_MAX),
  };
}

/** `ios` for iOS and iPadOS, `android` for Android, anything else as it came. */
export function osName(said: string): string {
  if (/^(ios|ipados|iphone ?os)\b/i.test(said)) return 'ios';
  if (/^android\b/i.test(said)) return 'android';
  return said;
}

/** The facts now known: what is said anew wins, silence erases nothing. */
export function mergeFacts(known: DeviceFacts, said: DeviceFacts): DeviceFacts {
  return mergeTexts(known, said, said.os || known.os);
}

/**
 * As {@link mergeFacts}, for what is said without proof: whoever knows a HWID may say it. The
 * operating system decides which messages reach a device: once that is registered, it stays.
 */
export function mergeClaims(known: DeviceAtProvider, said: DeviceFacts): DeviceFacts {
  return mergeTexts(known, said, known.isRegistered ? known.os : said.os || known.os);
}

function mergeTexts(known: DeviceFacts, said: DeviceFacts, os: string): DeviceFacts {
  return {
    os,
    osVersion: said.osVersion || known.osVersion,
    deviceName: said.deviceName || known.deviceName,
    appVersion: said.appVersion || known.appVersion,
    userAgent: said.userAgent || known.userAgent,
  };
}

/** Would keeping `said` change anything? */
export function saysNothingNew(known: DeviceAtProvider, said: DeviceFacts): boolean {
  const merged = mergeClaims(known, said);
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
 * A device's daily call to its provider (`GET /provider`). With the hash of an active binding it
 * becomes linked to the provider; without one it is only seen. A device that called today and has
 * nothing new to link writes nothing, nor does one that never called before and that `admitsNew`
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
): Maybe<'ok' | Refused<'hwid_required' | 'provider_not_found'>> {
  const hwid = readHwid(call.hwid);
  if (isRefused(hwid)) return HWID_REQUIRED;
  const providerCode = readProviderCode(call.providerCode);
  if (isRefused(providerCode)) return PROVIDER_NOT_FOUND;
  const hash = readDomainHash(call.domainHash);

  const key = { providerCode, domainHash: isRefused(hash) ? null : hash, hwid };
  return after(core.store.findCheckIn(key), (known) => {
    if (known === 'provider_not_found') return PROVIDER_NOT_FOUND;
    const calledToday = known.lastSeenAtMs !== null && sameUtcDay(known.lastSeenAtMs, nowMs);
    if (calledToday && !known.isNewLink) return 'ok';
    if (known.lastSeenAtMs === null && !admitsNew()) return 'ok';
    return after(core.store.recordCheckIn(key, tidyFacts(facts), nowMs), fromStore);
  });
}

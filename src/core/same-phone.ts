/** Recognises a phone that comes back with a new HWID: a newly installed app makes another one. */

import { appNameOf } from './app/find.ts';
import type { Core } from './core.ts';
import { tidyFacts } from './device.ts';
import type { DeviceFacts } from './port/device.ts';
import type { KeptRefusal } from './port/figure.ts';
import { DEVICES_MAX } from './slot.ts';

/** The facts that identify a phone. */
export type PhoneFacts = Pick<DeviceFacts, 'deviceName' | 'os'> & { app: string };

/** Returns the name of the app in a `User-Agent`; empty: it has none. */
const appIn = (userAgent: string): string =>
  appNameOf(userAgent) ?? /^[^/\s]*/.exec(userAgent.trim())?.[0].toLowerCase() ?? '';

/** Returns the facts that identify a phone; null: one of the three is unknown. */
export function phoneIn(reported: DeviceFacts | undefined): PhoneFacts | null {
  if (reported === undefined) return null;
  const { deviceName, os, userAgent } = tidyFacts(reported);
  const app = appIn(userAgent);
  return deviceName === '' || os === '' || app === '' ? null : { deviceName, os, app };
}

/** Returns whether another `User-Agent` belongs to the same app. */
export const isSameApp = ({ app }: PhoneFacts, userAgent: string) => app === appIn(userAgent);

/** A device with the times when it was first and last seen. */
interface Seen {
  hwid: string;
  deviceName: string;
  os: string;
  fromMs: number;
  lastSeenAtMs: number;
}

/**
 * Phones of one model that come within it are two, such as those of a family, ms. The console asks
 * about no others.
 */
export const APART_MS = 600_000;

/**
 * Returns the slot that a new device probably had before: same model and system, `apartMs` old
 * when the device came, and not seen since. Of several, returns the one seen last; null: there is
 * none, or the device reported no model.
 */
export function earlierSelf<S extends Seen>(
  newcomer: Pick<Seen, 'hwid' | 'deviceName' | 'os' | 'fromMs'>,
  slots: readonly S[],
  apartMs = 0,
): S | null {
  const { deviceName, fromMs, hwid, os } = newcomer;
  if (deviceName === '') return null;
  const silent = slots.filter(
    (slot) =>
      slot.hwid !== hwid &&
      slot.deviceName === deviceName &&
      slot.os === os &&
      slot.fromMs + apartMs <= fromMs &&
      slot.lastSeenAtMs <= fromMs,
  );
  return silent.sort((one, other) => other.lastSeenAtMs - one.lastSeenAtMs)[0] ?? null;
}

/** Lists the devices that a link refused, with the former slots that its policy considers. */
export async function refusedOn(
  { store }: Core,
  providerId: number,
  installId: number,
): Promise<KeptRefusal[]> {
  const refused = await store.listRefused(installId);
  const policy = refused.length === 0 ? null : await store.findPolicy(installId);
  if (policy === null || policy.samePhone === 'off') return refused;
  const devices = await store.listLinkDevices(providerId, installId, DEVICES_MAX);
  const slots = devices.map((device) => ({ ...device, fromMs: device.registeredAtMs }));
  return refused.map((device) => {
    const isFull = device.reason === 'link_limit_reached';
    const former = isFull ? earlierSelf({ ...device, fromMs: device.firstAtMs }, slots) : null;
    return former === null ? device : { ...device, formerHwid: former.hwid };
  });
}

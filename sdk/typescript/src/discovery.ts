/** A device that finds its server by the fetch of a subscription. */

import { badUrl } from './fault.ts';
import { Keeper } from './keeper.ts';
import type { DeviceOptions } from './options.ts';
import { headersOf } from './state.ts';

/** The part of a device's options that a subscription gives. */
export type Discovered = Pick<DeviceOptions, 'url' | 'base' | 'registration'>;

/**
 * Returns the headers for the fetch of a subscription, before there is a device. The HWID is read
 * from the store, or drawn and stored, so that the device has the same one.
 */
export async function subscriptionHeaders({
  store,
  hwid,
  registration,
}: Pick<DeviceOptions, 'store' | 'hwid' | 'registration'>): Promise<Record<string, string>> {
  const keeper = new Keeper(store, hwid, () => {});
  return headersOf((await keeper.now()).hwid, registration);
}

/**
 * Returns the options that an answer to the fetch of a subscription names; null: its provider
 * offers no messages. `address` is the one that was fetched, `registration` what the app says of
 * itself. The app makes a device of it after it asked its user.
 */
export function discover(
  address: string,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  registration: Readonly<Record<string, unknown>>,
): Discovered | null {
  const base = headerIn(headers, 'x-device-server');
  if (base === null || !/^(?:\/[\w.~-]+)+$/.test(base) || badUrl(address) !== null) return null;
  const url = new URL(address);
  // A path on the same host: never another server, and no way up.
  if (new URL(base, url).pathname !== base) return null;
  const about = { ...registration, subscription_url: url.pathname + url.search };
  return { url: url.origin, base, registration: about };
}

function headerIn(
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : null;
}

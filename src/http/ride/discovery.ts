/** The header by which an app that asks for it finds the message server: docs/discovery.md. */

import { isJunkHwid } from '../../core/junk-hwid.ts';
import type { Riders } from '../../core/ride/riding.ts';
import type { AdmittedFetch } from './desk.ts';

/** The path in place of `/device` at the host of a subscription. */
export const DISCOVERED_PATH = '/.well-known/device-messages';

/** The header of answers, and that by which apps ask for it. */
export const SERVER_HEADER = 'x-device-server';
const ASKING_HEADER = 'x-device-protocol';

/** Returns the header for the answer to a fetch; none for an app that does not ask for it. */
export function discoveryHeader(
  riders: Riders | null,
  { isShared, link, namesLink, request }: Omit<AdmittedFetch, 'myUrl'>,
): Readonly<Record<string, string>> {
  if (!riders?.hasDiscovery || request.headers.get(ASKING_HEADER) !== '1') return {};
  // The HWID of a device of its own, at an address by which it can register.
  const mayRegister = namesLink && !isShared && !isJunkHwid(link.hwid ?? '');
  return mayRegister ? { [SERVER_HEADER]: DISCOVERED_PATH } : {};
}

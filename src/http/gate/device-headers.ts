/**
 * Reads the HWID and the facts of a device from the headers of a subscription request alone. The
 * query belongs to the link, which people share: a HWID in it would name all their devices.
 */

import { isJunkHwid } from '../../core/junk-hwid.ts';
import { type DeviceWords, factParams, wordsOf } from '../endpoints/app.ts';
import { reader } from '../request/param-reader.ts';
import { parseQuery } from '../request/query.ts';

const READERS = Object.entries(factParams).map(([name, param]) => reader(name, param));

const NO_QUERY = parseQuery('', false);

/** The device of a request, read from its headers. */
interface DeviceHeaders extends DeviceWords {
  /** A HWID that names no device, whose `hwid` is null; null: there is none. */
  junkHwid: string | null;
}

/** Returns the HWID and the facts in the headers, or `hwid_required` for a malformed HWID. */
export function readDeviceHeaders(
  request: Request,
): DeviceHeaders | { says: 'hwid_required'; detail: string } {
  const params: Record<string, unknown> = {};
  for (const read of READERS) {
    const misfit = read({ params, query: NO_QUERY, readCount: 0, request });
    if (misfit) return { says: 'hwid_required', detail: misfit.detail };
  }
  const reported = wordsOf(params as Parameters<typeof wordsOf>[0]);
  const { hwid } = reported;
  const isJunk = hwid !== null && isJunkHwid(hwid);
  return isJunk ? { ...reported, hwid: null, junkHwid: hwid } : { ...reported, junkHwid: null };
}

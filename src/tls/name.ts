/** The names that certificates are for. */

import { isIP } from 'node:net';

const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/i;

/** Names with this end are IPv4 addresses (WHATWG URL, "ends in a number"). */
const LAST_IS_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i;

/**
 * Reads a host name, whose first label may be `*`, or an IP address, which is returned in its
 * shortest form (RFC 5952), as authorities write it. Throws a RangeError for others.
 */
export function certificateName(given: string): string {
  if (isIP(given) === 4) return given;
  if (isIP(given) === 6) return new URL(`http://[${given}]`).hostname.slice(1, -1);
  if (LAST_IS_NUMBER.test(given) || !HOST_NAME.test(given.replace(/^\*\./, ''))) {
    throw new RangeError(`'${given}' is neither a host name nor an IP address`);
  }
  return given.toLowerCase();
}

/**
 * Words of a device about itself in a request for a subscription: in headers alone. Its query is
 * that of the link, which people share: a HWID in it would stand for all of them.
 */

import { type DeviceWords, factParams, wordsOf } from '../endpoints/app.ts';
import { reader } from '../request/param-reader.ts';
import { parseQuery } from '../request/query.ts';

const READERS = Object.entries(factParams).map(([name, param]) => reader(name, param));

const NO_QUERY = parseQuery('', false);

/** The HWID and the facts in a request's headers. */
export function deviceWords(
  request: Request,
): DeviceWords | { says: 'hwid_required'; detail: string } {
  const params: Record<string, unknown> = {};
  for (const read of READERS) {
    const misfit = read({ params, query: NO_QUERY, request });
    if (misfit) return { says: 'hwid_required', detail: misfit.detail };
  }
  return wordsOf(params as Parameters<typeof wordsOf>[0]);
}

/** What a device says of itself in a request for a subscription, as it says it to `/install`. */

import { type DeviceWords, factParams, wordsOf } from '../endpoints/app.ts';
import { reader } from '../request/param-reader.ts';
import type { Query } from '../request/query.ts';

const READERS = Object.entries(factParams).map(([name, param]) => reader(name, param));

/** The HWID and the facts in a request's headers and its query, whose names are in lower case. */
export function deviceWords(
  request: Request,
  query: Query,
): DeviceWords | { says: 'hwid_required'; detail: string } {
  const params: Record<string, unknown> = {};
  for (const read of READERS) {
    const misfit = read({ params, query, request });
    if (misfit) return { says: 'hwid_required', detail: misfit.detail };
  }
  return wordsOf(params as Parameters<typeof wordsOf>[0]);
}

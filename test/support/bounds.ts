/** Bounds that no test meets by chance. */

import type { Core } from '../../src/core/core.ts';
import { KEPT_BYTES_EACH, SENDS_WINDOW_MS } from '../../src/core/message/send.ts';

export type Bounds = Pick<Core, 'domainsPerProviderMax' | 'sendBounds'>;

export const WIDE_BOUNDS = {
  domainsPerProviderMax: 100_000,
  sendBounds: {
    sendsPerMinuteMax: 1_000_000,
    keptBytesMax: Number.MAX_SAFE_INTEGER,
    ledgerRowsMax: 1_000_000_000,
  },
} satisfies Bounds;

/** A test's numbers instead of those. */
export const sendBounds = (more: Partial<Core['sendBounds']>) => ({
  sendBounds: { ...WIDE_BOUNDS.sendBounds, ...more },
});

/** The same as the store is told them with a send. */
export const GUARD_BOUNDS = {
  ...WIDE_BOUNDS.sendBounds,
  windowMs: SENDS_WINDOW_MS,
  bytesEach: KEPT_BYTES_EACH,
};

/** Hiddify 10.80.11. */

import type { PanelTraits } from './traits.ts';

export const HIDDIFY: PanelTraits = {
  // `max_ips`: neither its form nor its API sets another.
  limitMeaningNone: 100,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: [
    'asn',
    'base64',
    'darkmode',
    'domain',
    'fragment',
    'fragment_v1',
    'mode',
    'phttp',
    'ptls',
    'pwa',
  ],
};

/** Marzban 0.8.4. */

import type { PanelTraits } from './traits.ts';

export const MARZBAN: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['start', 'end'],
};

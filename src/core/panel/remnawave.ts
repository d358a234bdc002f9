/** Remnawave 3.3.2 and its subscription page. */

import type { PanelTraits } from './traits.ts';

export const REMNAWAVE: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: true,
  hasOwnButton: false,
  queryNames: [],
};

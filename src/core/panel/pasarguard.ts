/** PasarGuard 5.2.1. */

import type { PanelTraits } from './traits.ts';

export const PASARGUARD: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['period', 'start', 'end'],
};

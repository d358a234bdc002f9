/** 3x-ui after 3.6.0 (`sub/`, main of 2026-08-23). */

import type { PanelTraits } from './traits.ts';

export const THREE_X_UI: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: true,
  keysAreExact: true,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['format', 'html', 'view'],
};

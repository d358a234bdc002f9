/** The table of panels: each is described in its file. */

import { HIDDIFY } from './hiddify.ts';
import { MARZBAN } from './marzban.ts';
import { PASARGUARD } from './pasarguard.ts';
import { REMNAWAVE } from './remnawave.ts';
import { THREE_X_UI } from './three-x-ui.ts';
import type { PanelTraits } from './traits.ts';

export const PANEL_TRAITS = {
  remnawave: REMNAWAVE,
  '3x-ui': THREE_X_UI,
  pasarguard: PASARGUARD,
  marzban: MARZBAN,
  hiddify: HIDDIFY,
} as const satisfies Readonly<Record<string, PanelTraits>>;

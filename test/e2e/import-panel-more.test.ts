/** Users of the panels with signed tokens, and of Hiddify, move in. */

import { test } from 'bun:test';
import { movePanelIn, PANEL_MOVE_MS } from '../support/panel-moves.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses(PANEL_MOVE_MS);

test.each(['pasarguard', 'marzban', 'hiddify'] as const)(
  'users of %s, killed three times, twice, and after changes',
  movePanelIn,
);

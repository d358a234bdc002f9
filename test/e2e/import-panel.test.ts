/** Users of the panels that know devices, by themselves or by hash, move in. */

import { test } from 'bun:test';
import { movePanelIn, PANEL_MOVE_MS } from '../support/panel-moves.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses(PANEL_MOVE_MS);

test.each(['remnawave', '3x-ui'] as const)(
  'users of %s, killed three times, twice, and after changes',
  movePanelIn,
);

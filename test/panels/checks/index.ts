/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { agentChecks } from './agents.ts';
import { customerChecks } from './customers.ts';
import { doorChecks } from './door.ts';
import { pageChecks } from './pages.ts';
import { recipeChecks } from './recipes.ts';
import { recordingChecks } from './recording.ts';
import { routeChecks } from './routes.ts';

export const ALL_CHECKS: readonly Checks[] = [
  doorChecks,
  customerChecks,
  routeChecks,
  agentChecks,
  pageChecks,
  recipeChecks,
  recordingChecks,
];

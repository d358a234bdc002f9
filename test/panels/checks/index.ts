/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { agentChecks } from './agents.ts';
import { beforeGateChecks } from './before-gate.ts';
import { botLinkChecks } from './bot-links.ts';
import { customerChecks } from './customers.ts';
import { cutOffChecks } from './cut-off.ts';
import { cutOffClientChecks } from './cut-off-clients.ts';
import { cutOffDoorChecks } from './cut-off-door.ts';
import { doctorChecks } from './doctor.ts';
import { doorChecks } from './door.ts';
import { figuresChecks } from './figures.ts';
import { importChecks } from './imports.ts';
import { limitsChecks } from './limits.ts';
import { listChecks } from './lists.ts';
import { mihomoChecks } from './mihomo.ts';
import { pageChecks } from './pages.ts';
import { recipeChecks } from './recipes.ts';
import { recordingChecks } from './recording.ts';
import { renewedChecks } from './renewed.ts';
import { ridesChecks } from './rides.ts';
import { routeChecks } from './routes.ts';
import { userPageChecks } from './user-page.ts';

export const ALL_CHECKS: readonly Checks[] = [
  doorChecks,
  customerChecks,
  routeChecks,
  agentChecks,
  pageChecks,
  recipeChecks,
  recordingChecks,
  importChecks,
  listChecks,
  doctorChecks,
  limitsChecks,
  figuresChecks,
  cutOffChecks,
  cutOffClientChecks,
  cutOffDoorChecks,
  botLinkChecks,
  renewedChecks,
  ridesChecks,
  userPageChecks,
  beforeGateChecks,
  mihomoChecks,
];

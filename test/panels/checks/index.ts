/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { beforeGateChecks } from './before-gate.ts';
import { doorChecks } from './door.ts';
import { limitsChecks } from './limits.ts';
import { mihomoChecks } from './mihomo.ts';
import { ridesChecks } from './rides.ts';
import { userPageChecks } from './user-page.ts';

export const ALL_CHECKS: readonly Checks[] = [
  doorChecks,
  limitsChecks,
  ridesChecks,
  userPageChecks,
  beforeGateChecks,
  mihomoChecks,
];

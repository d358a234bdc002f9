/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { doorChecks } from './door.ts';
import { mihomoChecks } from './mihomo.ts';
import { ridesChecks } from './rides.ts';

export const ALL_CHECKS: readonly Checks[] = [doorChecks, ridesChecks, mihomoChecks];

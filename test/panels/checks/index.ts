/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { doorChecks } from './door.ts';
import { recordingChecks } from './recording.ts';

export const ALL_CHECKS: readonly Checks[] = [doorChecks, recordingChecks];

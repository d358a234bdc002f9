/** Every check, in the order in which they run. */

import type { Checks } from '../real-panel-tests.ts';
import { agentChecks } from './agents.ts';
import { customerChecks } from './customers.ts';
import { doctorChecks } from './doctor.ts';
import { doorChecks } from './door.ts';
import { importChecks } from './imports.ts';
import { listChecks } from './lists.ts';
import { pageChecks } from './pages.ts';
import { routeChecks } from './routes.ts';

export const ALL_CHECKS: readonly Checks[] = [
  doorChecks,
  customerChecks,
  routeChecks,
  agentChecks,
  pageChecks,
  importChecks,
  listChecks,
  doctorChecks,
];

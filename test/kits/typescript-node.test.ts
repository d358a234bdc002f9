/** The package of the kit for TypeScript in Node against the appliance, with kills. */

import { nodeDriven, testNode } from '../support/typescript-kit.ts';
import { driveKit, killKit, useKits } from './driven.ts';
import { errorKit } from './errors.ts';

const built = nodeDriven();

useKits();
driveKit(testNode, built);
killKit(testNode, built);
errorKit(testNode, built);

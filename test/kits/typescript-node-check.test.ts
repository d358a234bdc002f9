/** The package of the kit for TypeScript in Node against `gatepost device check`. */

import { nodeDriven, testNode } from '../support/typescript-kit.ts';
import { checkKit, useKits } from './driven.ts';

useKits();
checkKit(testNode, nodeDriven());

/** The kit in Java against the appliance. */

import { javaDriven, testJava } from '../support/java-kit.ts';
import { driveKit, useKits } from './driven.ts';

useKits();
driveKit(testJava(), javaDriven);

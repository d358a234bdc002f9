/** The kit in Java against the appliance. */

import { javaDriven, testJava } from '../support/java-kit.ts';
import { driveKit } from './driven.ts';

driveKit(testJava(), javaDriven);

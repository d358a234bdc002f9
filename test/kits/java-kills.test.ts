/** The kit in Java in apps that are killed. */

import { javaDriven, testJava } from '../support/java-kit.ts';
import { killKit, useKits } from './driven.ts';

useKits();
killKit(testJava(), javaDriven);

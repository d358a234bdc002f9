/** The kit in Java against `gatepost device check`, and its size. */

import { expect } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JAVA_JAR, javaDriven, testJava } from '../support/java-kit.ts';
import { ROOT } from '../support/process.ts';
import { checkKit, useKits } from './driven.ts';

const testKit = testJava();

useKits();
checkKit(testKit, javaDriven);

testKit('its size is what README says', () => {
  expect(statSync(JAVA_JAR).size).toBeLessThanOrEqual(52 * 1_024);
  const sample = readFileSync(join(ROOT, 'sdk/java/sample/Sample.java'), 'utf8');
  expect(sample.split('\n').length - 1).toBeLessThan(60);
});

/** The kit in Java, built for a test file as an app's developer builds it. */

import { beforeAll } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driven } from '../kits/driven.ts';
import { buildKit, classesIn, JAVA } from './kits.ts';
import { testWith } from './needs.ts';
import { ROOT } from './process.ts';
import { PATIENCE_MS } from './until.ts';

const NEEDED = ['javac', 'jar', 'java', 'keytool'];
const BUILT = join(ROOT, 'dist/kits/java');

export const JAVA_JAR = join(BUILT, 'gatepost-device.jar');

export const javaDriven: Driven = {
  pace: 0.1,
  driver: [...JAVA, classesIn(BUILT), 'org.gatepost.device.Driver'],
  sample: [...JAVA, classesIn(BUILT), 'Sample'],
  sampleState: 'device.json',
  stateIn: (where) => JSON.parse(readFileSync(join(where, 'device.json'), 'utf8')).state,
};

/** Builds it before the tests of a file; returns their `test`, which skips without a JDK. */
export function testJava(): ReturnType<typeof testWith> {
  beforeAll(() => {
    if (NEEDED.every((program) => Bun.which(program) !== null)) buildKit('java');
  }, PATIENCE_MS);
  return testWith(...NEEDED);
}

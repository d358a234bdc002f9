/** The kit in Java, built for a test file as an app's developer builds it. */

import { beforeAll } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driven } from '../kits/driven.ts';
import { JAVA } from './kits.ts';
import { testWith } from './needs.ts';
import { ROOT, temporaryFolder } from './process.ts';

const NEEDED = ['javac', 'jar', 'java', 'keytool'];
const folder = temporaryFolder();

export const JAVA_JAR = join(folder, 'gatepost-device.jar');
const CLASSES = `${JAVA_JAR}:${join(folder, 'tools')}`;

export const javaDriven: Driven = {
  pace: 0.1,
  driver: [...JAVA, CLASSES, 'org.gatepost.device.Driver'],
  sample: [...JAVA, CLASSES, 'Sample'],
  sampleState: 'device.json',
  stateIn: (where) => JSON.parse(readFileSync(join(where, 'device.json'), 'utf8')).state,
};

/** Builds it before the tests of a file; returns their `test`, which skips without a JDK. */
export function testJava(): ReturnType<typeof testWith> {
  beforeAll(() => {
    if (NEEDED.some((program) => Bun.which(program) === null)) return;
    const { exitCode, stderr } = Bun.spawnSync([join(ROOT, 'sdk/java/build.sh'), folder]);
    if (exitCode !== 0) throw new Error(`build.sh failed:\n${stderr}`);
  });
  return testWith(...NEEDED);
}

/** The kit in Java, built as an app's developer builds it, with its face for Kotlin. */

import { beforeAll, expect } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JAVA } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT } from '../support/process.ts';
import { driveKit } from './driven.ts';

const KIT = join(ROOT, 'sdk/java');
const BUILT = join(ROOT, 'dist/kits/java');
const JAR = join(BUILT, 'gatepost-device.jar');
const CLASSES = `${JAR}:${join(BUILT, 'tools')}`;
const NEEDED = ['javac', 'jar', 'java'];
const testKit = testWith(...NEEDED);

beforeAll(() => {
  if (NEEDED.some((program) => Bun.which(program) === null)) return;
  const { exitCode, stderr } = Bun.spawnSync([join(KIT, 'build.sh')]);
  if (exitCode !== 0) throw new Error(`build.sh failed:\n${stderr}`);
});

testKit('its size is what README says', () => {
  expect(statSync(JAR).size).toBeLessThanOrEqual(38 * 1_024);
  const sample = readFileSync(join(KIT, 'sample/Sample.java'), 'utf8');
  expect(sample.split('\n').length - 1).toBeLessThan(60);
});

driveKit(testKit, () => ({
  driver: [...JAVA, CLASSES, 'org.gatepost.device.Driver'],
  sample: [...JAVA, CLASSES, 'Sample'],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state,
}));

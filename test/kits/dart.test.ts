/** The kit in Dart, built as an app's developer builds it, where a compiler is. */

import { beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT } from '../support/process.ts';
import { checkKit, type Driven, driveKit, killKit, useKits } from './driven.ts';
import { endedKit } from './ended.ts';
import { errorKit } from './errors.ts';

const BUILT = join(ROOT, 'dist/kits/dart');
const SOURCES = join(ROOT, 'sdk/dart/lib/src');
const BUILD_MS = 600_000;

const testKit = testWith('dart');

beforeAll(() => {
  if (Bun.which('dart') !== null) buildKit('dart');
}, BUILD_MS);

test('its size is what was promised, and it names no package', () => {
  const texts = readdirSync(SOURCES).map((name) => readFileSync(join(SOURCES, name), 'utf8'));
  const lines = texts.flatMap((text) => text.split('\n'));
  expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(600);
  const imported = texts.flatMap((text) => text.match(/^import '[^']+'/gm) ?? []);
  expect(imported.length).toBeGreaterThan(4);
  expect(imported.filter((line) => !/'dart:\w+'$/.test(line))).toEqual([]);
});

testKit('its parts that need no server pass their cases', () => {
  const { stdout, exitCode } = Bun.spawnSync([join(BUILT, 'cases')], {
    cwd: join(ROOT, 'sdk/dart'),
  });
  expect({ exitCode, said: String(stdout) }).toEqual({
    exitCode: 0,
    said: '67 passed, 0 failed\n',
  });
});

const built: Driven = {
  pace: 0.1,
  driver: [join(BUILT, 'driver')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
};

useKits();
checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);
errorKit(testKit, built);
endedKit(testKit, built);

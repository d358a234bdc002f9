/** The kit in Go, built as an app's developer builds it. */

import { beforeAll, expect, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit, hasGo } from '../support/kits.ts';
import { ROOT } from '../support/process.ts';
import { checkKit, type Driven, driveKit, killKit, useKits } from './driven.ts';
import { endedKit } from './ended.ts';
import { errorKit } from './errors.ts';
import { readmeKit } from './readme.ts';

const KIT = join(ROOT, 'sdk/go');
const BUILT = join(ROOT, 'dist/kits/go');
const SOURCES = ['device.go'];

const testKit = test.skipIf(!hasGo());

beforeAll(() => {
  if (hasGo()) buildKit('go');
});

testKit('its size is what was promised', () => {
  const lines = SOURCES.flatMap((name) =>
    readFileSync(join(ROOT, 'sdk/go', name), 'utf8').split('\n'),
  );
  expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(600);
});

testKit('what an app does wrong ends nothing', () => {
  const { exitCode, stdout } = Bun.spawnSync(['go', 'test', './...'], { cwd: KIT });
  expect({ exitCode, said: exitCode === 0 ? '' : String(stdout) }).toEqual({
    exitCode: 0,
    said: '',
  });
});

const built: Driven = {
  pace: 0.05,
  driver: [join(BUILT, 'driver')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state,
};

useKits();
checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);
errorKit(testKit, built);
endedKit(testKit, built);
readmeKit(testKit, 'go', {
  language: 'go',
  file: 'main.go',
  command: ['go', 'run', '.'],
  env: { GOFLAGS: '-mod=mod', GOPROXY: 'off' },
  prepare(folder) {
    cpSync(join(KIT, 'go.sum'), join(folder, 'go.sum'));
    const needs = 'require gatepost.org/device v0.0.0\n\nreplace gatepost.org/device => ';
    writeFileSync(join(folder, 'go.mod'), `module example\n\ngo 1.24\n\n${needs}${KIT}\n`);
  },
});

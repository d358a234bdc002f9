/** The kit in Python, run by the interpreter and the library that `make kit-tools` brings. */

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON } from '../support/kits.ts';
import { ROOT } from '../support/process.ts';
import { checkKit, type Driven, driveKit, killKit, useKits } from './driven.ts';
import { endedKit } from './ended.ts';
import { errorKit } from './errors.ts';
import { readmeKit } from './readme.ts';

const KIT = join(ROOT, 'sdk/python');
const FILES = ['__init__.py', 'line.py', 'message.py', 'state.py', 'subscription.py'];

if (!existsSync(PYTHON))
  console.warn('Kit python is skipped: there is no library (make kit-tools).');
const testKit = test.skipIf(!existsSync(PYTHON));

test('its size is what was promised', () => {
  const lines = FILES.flatMap((name) =>
    readFileSync(join(KIT, 'gatepost_device', name), 'utf8')
      // Docstrings are comments.
      .replaceAll(/^ *"""[\s\S]*?"""$/gm, '')
      .split('\n'),
  );
  expect(lines.filter((line) => !/^\s*(?:#.*)?$/.test(line)).length).toBeLessThan(600);
});

testKit('what an app does wrong ends nothing', () => {
  const { exitCode, stderr } = Bun.spawnSync([PYTHON, '-m', 'unittest', 'tests'], {
    cwd: KIT,
  });
  expect({ exitCode, said: exitCode === 0 ? '' : String(stderr) }).toEqual({
    exitCode: 0,
    said: '',
  });
});

const built: Driven = {
  // Its interpreter needs a second for its start on a busy machine.
  pace: 0.3,
  driver: [PYTHON, join(KIT, 'driver.py')],
  sample: [PYTHON, join(KIT, 'sample.py')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
};

useKits();
checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);
errorKit(testKit, built);
endedKit(testKit, built);
readmeKit(testKit, 'python', {
  language: 'python',
  file: 'example.py',
  command: [PYTHON, 'example.py'],
  env: { PYTHONPATH: KIT },
});

/** The kit in C against the appliance: every case of the check, and kills. */

import { beforeAll } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT } from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { checkKit, type Driven, driveKit, killKit, useKits } from './driven.ts';

const BUILT = join(ROOT, 'dist/kits/c');

const compiler = process.env['CC'] ?? 'gcc';
const testKit = testWith(compiler);

beforeAll(() => {
  if (Bun.which(compiler) !== null) buildKit('c');
}, PATIENCE_MS);

const built: Driven = {
  pace: 0.03,
  driver: [join(BUILT, 'driver-checked')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.state',
  // The effects of the app stand before it.
  stateIn: (folder) => {
    const [, ...state] = readFileSync(join(folder, 'device.txt'), 'utf8').split('\n');
    return state.join('\n');
  },
};

useKits();
checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);

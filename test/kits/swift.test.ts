/** The kit in Swift, built as an app's developer builds it, where a compiler is. */

import { beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES } from '../../src/device-check/check.ts';
import { buildKit } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT } from '../support/process.ts';
import { type Driven, driveKit, faultsOf, killKit, useKits } from './driven.ts';
import { endedKit } from './ended.ts';
import { errorKit } from './errors.ts';

const BUILT = join(ROOT, 'dist/kits/swift');
const SOURCES = join(ROOT, 'sdk/swift/src');
const BUILD_MS = 600_000;

const testKit = testWith('swift');

beforeAll(() => {
  if (Bun.which('swift') !== null) buildKit('swift');
}, BUILD_MS);

test('its size is what was promised, and it imports Foundation alone', () => {
  const texts = readdirSync(SOURCES).map((name) => readFileSync(join(SOURCES, name), 'utf8'));
  const lines = texts.flatMap((text) => text.split('\n'));
  expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(865);
  const imported = new Set(texts.flatMap((text) => text.match(/^import \w+/gm) ?? []));
  expect([...imported].sort()).toEqual(['import Foundation', 'import FoundationNetworking']);
});

const built: Driven = {
  pace: 0.1,
  driver: [join(BUILT, 'driver')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
};

useKits();

// URLSession shows no pings: the kit sends its own, which the server of these two cases answers.
const OWN_PINGS = ['silence', 'ping-interval'];

testKit('it passes every case of the check but those about pings that it cannot see', async () => {
  const cases = CASES.filter(({ name }) => !OWN_PINGS.includes(name));
  expect(await faultsOf(built.driver.join(' '), built.pace, cases)).toEqual([]);
});
driveKit(testKit, built);
killKit(testKit, built);
errorKit(testKit, built);
endedKit(testKit, built);

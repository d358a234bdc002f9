/** The kit in Rust, built as an app's developer builds it. */

import { beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit, hasRust } from '../support/kits.ts';
import { ROOT } from '../support/process.ts';
import { checkKit, type Driven, driveKit, killKit, useKits } from './driven.ts';
import { endedKit } from './ended.ts';
import { errorKit } from './errors.ts';

const BUILT = join(ROOT, 'dist/kits/rust');
const SOURCES = join(ROOT, 'sdk/rust/src');
/** The crates are compiled once. */
const BUILD_MS = 600_000;

const testKit = test.skipIf(!hasRust());

beforeAll(() => {
  if (hasRust()) buildKit('rust');
}, BUILD_MS);

test('its size is what was promised', () => {
  const lines = readdirSync(SOURCES).flatMap((name) =>
    readFileSync(join(SOURCES, name), 'utf8').split('\n'),
  );
  expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(885);
});

const built: Driven = {
  pace: 0.05,
  driver: [join(BUILT, 'driver')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
};

useKits();

testKit(
  'its own tests pass: panics, a full disk, discovery, texts',
  () => {
    const command = 'PATH=$PATH:$HOME/.cargo/bin && exec cargo test --release --offline --locked';
    const env = { ...process.env, CARGO_TARGET_DIR: join(ROOT, '.bootstrap/rust') };
    const ran = Bun.spawnSync(['sh', '-c', command], { cwd: join(SOURCES, '..'), env });
    expect(ran.stdout.toString()).toContain('test result: ok. 6 passed');
    expect(ran.exitCode).toBe(0);
  },
  BUILD_MS,
);

checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);
errorKit(testKit, built);
endedKit(testKit, built);

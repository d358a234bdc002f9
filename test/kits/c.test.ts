/**
 * The kit in C, built as an app's developer builds it, with sanitizers: its machine of states,
 * event by event. c-driven.test.ts has it against the appliance.
 */

import { beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT } from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';

const KIT = join(ROOT, 'sdk/c');
const BUILT = join(ROOT, 'dist/kits/c');

const compiler = process.env['CC'] ?? 'gcc';
const testKit = testWith(compiler);

beforeAll(() => {
  if (Bun.which(compiler) === null) return;
  buildKit('c');
}, PATIENCE_MS);

const lines = (path: string) => readFileSync(join(KIT, path), 'utf8').split('\n').length - 1;

test('its size is what was promised', () => {
  expect(lines('gatepost.h') + lines('gatepost.c')).toBeLessThanOrEqual(1_850);
  expect(lines('sample.c')).toBeLessThan(65);
});

testKit('odd bytes and events at odd times do no harm', () => {
  const { exitCode, stderr } = Bun.spawnSync([
    join(BUILT, 'odd-bytes'),
    String(Date.now()),
    '1500',
  ]);
  expect({ exitCode, stderr: String(stderr) }).toEqual({ exitCode: 0, stderr: '' });
});

testKit.each(['answers', 'orders'])(
  'it gives the order that is due, event by event: %s',
  (name) => {
    const { exitCode, stderr } = Bun.spawnSync([join(BUILT, name)]);
    expect({ exitCode, stderr: String(stderr) }).toEqual({ exitCode: 0, stderr: '' });
  },
);

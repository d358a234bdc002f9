import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { knockAt } from '../../src/store/sqlite/knock.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = freshFolder();
  file = join(folder, 'lock');
  writeFileSync(file, '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a knock is heard by the others, once', () => {
  const [here, there] = [knockAt(file), knockAt(file)];
  expect(there.hasKnocked()).toBe(false);
  here.knock();
  expect(there.hasKnocked()).toBe(true);
  expect(there.hasKnocked()).toBe(false);
});

test('without the file nobody is heard, and nothing goes wrong', () => {
  const knock = knockAt(file);
  rmSync(file);
  knock.knock();
  knock.hasKnocked();
  expect(knock.hasKnocked()).toBe(false);
});

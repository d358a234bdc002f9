import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockRequestsBy } from '../../src/store/sqlite/lock-request.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = freshFolder();
  file = join(folder, 'lock');
  writeFileSync(file, '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a request is seen by the others, once', () => {
  const [here, there] = [lockRequestsBy(file), lockRequestsBy(file)];
  expect(there.takeRequest()).toBe(false);
  here.request();
  expect(there.takeRequest()).toBe(true);
  expect(there.takeRequest()).toBe(false);
});

test('without the file there are no requests, and no faults', () => {
  const requests = lockRequestsBy(file);
  rmSync(file);
  requests.request();
  requests.takeRequest();
  expect(requests.takeRequest()).toBe(false);
});

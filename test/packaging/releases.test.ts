/** The documents say which machine needs which executable. */

import { expect, test } from 'bun:test';
import { readText } from '../support/tree.ts';

const names = /^RELEASES = (.+)$/m.exec(readText('Makefile'))?.[1]?.split(' ') ?? [];

test('a release has glibc, musl and baseline executables', () => {
  expect(names).toEqual([
    'x64',
    'x64-baseline',
    'arm64',
    'x64-musl',
    'x64-musl-baseline',
    'arm64-musl',
  ]);
});

test('each is in the table of docs/installing.md, and its needs are tried out', () => {
  const told = [...readText('docs/installing.md').matchAll(/^\| `gatepost-linux-([\w-]+)` \|/gm)];
  expect(told.map(([, name]) => name)).toEqual(names);
  const tried = [...readText('packaging/test/releases.sh').matchAll(/^([\w-]+) \/lib/gm)];
  expect(tried.map(([, name]) => name)).toEqual(names);
});

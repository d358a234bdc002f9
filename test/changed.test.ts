import { expect, test } from 'bun:test';
import { affectedTests, kitTests } from './changed.ts';

test('a change selects the tests that reach it by imports, a circle too, and no others', () => {
  const importers = new Map([
    ['src/leaf.ts', ['src/core/middle.ts', 'test/core/near.test.ts']],
    ['src/core/middle.ts', ['src/leaf.ts', 'test/support/world.ts']],
    ['test/support/world.ts', ['test/far.test.ts']],
    ['src/other.ts', ['test/other.test.ts']],
  ]);
  const near = ['test/core/near.test.ts', 'test/far.test.ts'];
  expect(affectedTests(['src/leaf.ts'], importers)).toEqual(near);
  expect(affectedTests(['src/other.ts'], importers)).toEqual(['test/other.test.ts']);
  expect(affectedTests(['test/new.test.ts', 'README.md'], importers)).toEqual(['test/new.test.ts']);
});

test('a change of a kit selects its tests, and those of no other', () => {
  const all = ['test/kits/c.test.ts', 'test/kits/c-driven.test.ts', 'test/kits/java.test.ts'];
  expect(kitTests(['sdk/c/gatepost.c', 'sdk/README.md'], all)).toEqual(all.slice(0, 2));
  expect(kitTests(['src/main.ts'], all)).toEqual([]);
});

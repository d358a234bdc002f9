/** The generator of mistakes: each kind on a small text, and each folder of `src` has places. */

import { afterAll, expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { API } from 'typescript/unstable/async';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { ROOT } from '../support/tree.ts';
import { ranking } from './nearest.ts';
import { Compiler, SOURCES } from './places.ts';
import { changesIn } from './plant.ts';
import { changesInSql } from './sql.ts';

const compiler = new Compiler(ROOT);
afterAll(() => compiler[Symbol.asyncDispose]());

/** Returns what becomes of a text, by kind. */
async function made(text: string): Promise<string[]> {
  const api = new API({
    cwd: '/small',
    fs: createVirtualFileSystem({ '/small/tsconfig.json': '{}', '/small/a.ts': text }),
  });
  const snapshot = await api.updateSnapshot({ openProjects: ['/small/tsconfig.json'] });
  const source = await snapshot.getProjects()[0]?.program.getSourceFile('/small/a.ts');
  await api.close();
  if (source === undefined) throw new Error('the text was not read');
  return changesIn(source).map(
    ({ kind, from, to, replacement }) =>
      `${kind}: ${text.slice(0, from)}${replacement}${text.slice(to)}`,
  );
}

test.each([
  ['negation', 'if (a) b(1);', 'if (!(a)) b(1);'],
  ['negation', 'c = !a;', 'c = a;'],
  ['negation', 'c = a === b;', 'c = a !== b;'],
  ['bound', 'c = a < b;', 'c = a <= b;'],
  ['negation', 'c = aMs < bMs;', 'c = aMs >= bMs;'],
  ['negation', 'c = a < 0;', 'c = a >= 0;'],
  ['logic', 'c = a && b;', 'c = a || b;'],
  ['logic', 'c = a ?? b;', 'c = b;'],
  ['sum', 'c = a + b;', 'c = a - b;'],
  ['constant', 'const A = 1;', 'const A = 2;'],
  ['constant', 'const A = 60_000;', 'const A = 30000;'],
  ['constant', 'const A = true;', 'const A = false;'],
  ['constant', 'a = { b: true };', 'a = { b: false };'],
  ['statement', 'a(); b();', 'a(); ;'],
  ['statement', 'a += b;', ';'],
  ['guard', 'if (a) return; b();', '; b();'],
  ['field', 'c = { a: b, d };', 'c = {  d };'],
  ['spread', 'c = { ...a, d };', 'c = {  d };'],
  ['spread', 'c = [...a, d];', 'c = [ d];'],
  ['await', 'c = await a();', 'c = a();'],
  ['result', "const a = () => 'words';", "const a = () => '';"],
  ['result', 'function a() { return [b]; }', 'function a() { return []; }'],
  ['field', "c = ['one', 'two'];", "c = ['one', ];"],
  ['call', 'c = a.filter(b);', 'c = a;'],
  ['call', 'c = Math.min(a, b);', 'c = a;'],
  ['SQL: condition', 'c = sql`SELECT 1 WHERE a = 1`;', 'c = sql`SELECT 1 WHERE true`;'],
])('a mistake of the kind %s: %s', async (kind, before, after) => {
  expect(await made(before)).toContain(`${kind}: ${after}`);
});

test('types, imports, short texts and the patience of a loop have none', async () => {
  expect(await made('for (const a of b) for (; c < D_MAX; c++);')).toEqual([]);
  expect(await made('async () => { await a; };')).toEqual([]);
  const text = "import a from 'b'; type C = { d: 1 }; interface E { f: true }";
  expect(await made(text)).toEqual([]);
});

test.each([
  ['WHERE a = 1 AND b < 2 ORDER BY c DESC', 'WHERE true AND b < 2 ORDER BY c DESC'],
  ['WHERE a = 1 AND b < 2 ORDER BY c DESC', 'WHERE a = 1 AND true ORDER BY c DESC'],
  ['WHERE a = 1 AND b < 2 ORDER BY c DESC', 'WHERE a = 1 AND b <= 2 ORDER BY c DESC'],
  ['WHERE a = 1 AND b < 2 ORDER BY c DESC', 'WHERE a = 1 AND b < 2 ORDER BY c ASC'],
  ['WHERE (a IS NULL OR b)', 'WHERE (a IS NOT NULL OR b)'],
  ['WHERE (a IS NULL OR b)', 'WHERE (a IS NULL OR false)'],
  ['CHECK (a > 0 AND b BETWEEN 1 AND 2)', 'CHECK (true AND b BETWEEN 1 AND 2)'],
  ['CHECK (a > 0 AND b BETWEEN 1 AND 2)', 'CHECK (a > 0 AND true)'],
])('a mistake in SQL: %s becomes %s', (before, after) => {
  const all = changesInSql(before).map(
    ({ from, to, replacement }) => before.slice(0, from) + replacement + before.slice(to),
  );
  expect(all).toContain(after);
  expect(new Set(all).size).toBe(all.length);
});

test('each folder of src has a file with places, and a test that is asked about it', async () => {
  const testsOf = ranking();
  const without: string[] = [];
  for (const [folder, files] of Map.groupBy(SOURCES, dirname)) {
    if (!folder.startsWith('src')) continue;
    let isFound = false;
    for (const file of files) {
      if (isFound) break;
      const places = await compiler.mistakesIn(file);
      isFound = places.length > 0 && testsOf(file, 1).length > 0;
    }
    if (!isFound) without.push(folder);
  }
  expect(SOURCES.length).toBeGreaterThan(500);
  expect(without).toEqual([]);
});

test('what does not compile is no mistake', async () => {
  const file = 'src/base/deadline.ts';
  const first = (await compiler.mistakesIn(file)).find(({ kind }) => kind === 'negation');
  if (first === undefined) throw new Error(`${file} decides nothing`);
  expect(await compiler.compiles(first)).toBe(true);
  expect(await compiler.compiles({ ...first, replacement: '+ noSuchName *' })).toBe(false);
});

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { LONG_FILES, LONG_ON_POSTGRES } from './long.ts';
import { NAMED_FILES, planRuns } from './plan.ts';

const FILES = [...new Bun.Glob('**/*.test.ts').scanSync(join(import.meta.dir))];
const passesOf = (isLong: boolean) =>
  planRuns(FILES, ['sqlite', 'postgres'], isLong).flatMap(({ files, store }) =>
    files.map((file) => `${file} on ${store}`),
  );
const short = passesOf(false);
const long = passesOf(true);

test('make test-long runs every file on SQLite, and no pass twice', () => {
  const onSqlite = long.filter((pass) => pass.endsWith(' on sqlite'));
  expect(onSqlite.sort()).toEqual(FILES.map((file) => `${file} on sqlite`).sort());
  expect(new Set(long).size).toBe(long.length);
});

test('make test runs the same but for what is long', () => {
  const left = long.filter((pass) => !short.includes(pass));
  const files = Object.keys(LONG_FILES);
  const said = [...files, ...Object.keys(LONG_ON_POSTGRES)].flatMap((file) => {
    const passes = [`${file} on sqlite`, `${file} on postgres`].filter((one) => long.includes(one));
    return file in LONG_FILES ? passes : passes.slice(1);
  });
  expect(short.filter((pass) => !long.includes(pass))).toEqual([]);
  expect(left.sort()).toEqual(said.sort());
  expect(said.length).toBeGreaterThanOrEqual(files.length + Object.keys(LONG_ON_POSTGRES).length);
});

test('every file that the plan names is there', () => {
  expect(NAMED_FILES.filter((file) => !FILES.includes(file))).toEqual([]);
});

/** The named files whose pass is not in `make test`; the reason itself, if it names none. */
const missing = (reason: string, store: string) => {
  const named = reason.match(/\S+\.test\.ts/g) ?? [reason];
  return named.filter((file) => !short.includes(`${file} on ${store}`));
};

test('what is long says what catches its fault in make test', () => {
  const reasons = Object.values(LONG_FILES);
  expect(reasons.flatMap((reason) => missing(reason, 'sqlite'))).toEqual([]);
});

test('so does a pass on PostgreSQL: another there, or a file about that store', () => {
  const entries = Object.entries(LONG_ON_POSTGRES);
  const wrong = entries.flatMap(([, reason]) => missing(reason, 'postgres'));
  expect(wrong.filter((file) => !file.startsWith('store/postgres-'))).toEqual([]);
  expect(entries.filter(([file]) => !short.includes(`${file} on sqlite`))).toEqual([]);
});

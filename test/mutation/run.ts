/**
 * `make mutation`: makes each mutation of the list in a copy of the sources and runs its tests.
 * Prints a table by folder of src. Exits with 1 if the tests of a folder kill fewer than 95 %.
 *
 *   bun test/mutation/run.ts [PART OF A PATH …]
 *
 * The list is written by hand: tools that generate mutations run every test for each of thousands,
 * or need a test runner that reports which test covers which line.
 */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memoryFolder } from '../support/memory-folder.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { committedFiles } from '../support/tree.ts';
import { mutatedFiles } from './list/index.ts';
import type { MutatedFile } from './mutation.ts';

interface Mutant {
  of: MutatedFile;
  text: string;
  replacement: string;
}

interface TestRun {
  tests: readonly string[];
  store: 'sqlite' | 'postgres';
}

/** The mutations that run at the same time. More slow each other down until tests time out. */
const WORKERS = 2;
/** The time after which a mutation counts as killed because its tests do not end, s. */
const SECONDS_MAX = 120;
const KILLED_PERCENT_MIN = 95;
/** Time of a test, ms: bunfig.toml's `preload` sets it for the first file of a process alone. */
const PATIENCE = '--timeout=60000';

const root = join(import.meta.dir, '../..');
const parts = process.argv.slice(2);
const files = mutatedFiles.filter(
  ({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)),
);
const queue = files.flatMap((of) =>
  of.changes.map(([text, replacement]): Mutant => ({ of, text, replacement })),
);
const folder = mkdtempSync(join(tmpdir(), 'gatepost-mutation-'));
const fastFolder = memoryFolder();
process.once('exit', () => {
  for (const each of [folder, fastFolder]) {
    if (each !== null) rmSync(each, { recursive: true, force: true });
  }
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const survivors: Mutant[] = [];
const [count, startMs] = [queue.length, performance.now()];
const copies = Array.from({ length: WORKERS }, (_, at) => join(folder, String(at)));
for (const copy of copies) copySources(copy);
const tests = testsOf(files);
// One server for all tests: each test file would start its own.
if (noPostgres !== null) throw new Error(noPostgres);
const port = process.env['TEST_POSTGRES'] ?? String((await startPostgres()).port);
await Promise.all(copies.map(checkUnchanged));
await Promise.all(copies.map(work));
report();

/** Each test file, once for each store that it runs on. */
function testsOf(files: readonly MutatedFile[]): TestRun[] {
  const known = new Map<string, TestRun>();
  for (const { tests, store = 'sqlite' } of files) {
    for (const test of tests) known.set(`${test} ${store}`, { tests: [test], store });
  }
  return [...known.values()];
}

/** Ends the run if a test fails without a mutation: it would fail with each. */
async function checkUnchanged(copy: string): Promise<void> {
  for (let run = tests.shift(); run !== undefined; run = tests.shift()) {
    if (await passes(copy, run)) continue;
    console.error(`mutation: ${run.tests} on ${run.store} does not pass without a mutation`);
    process.exit(2);
  }
}

async function work(copy: string): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const { of, text, replacement } = mutant;
    const path = join(copy, of.file);
    // Of the copy: the sources may change while this runs.
    const source = readFileSync(path, 'utf8');
    const at = source.indexOf(text);
    if (at < 0) throw new Error(`${of.file} does not hold: ${text}`);
    writeFileSync(path, source.slice(0, at) + replacement + source.slice(at + text.length));
    const hasSurvived = await passes(copy, { tests: of.tests, store: of.store ?? 'sqlite' });
    writeFileSync(path, source);
    if (hasSurvived) survivors.push(mutant);
    const result = hasSurvived ? 'SURVIVED' : 'killed  ';
    console.log(`${result} ${of.file}: ${oneLine(text)} -> ${oneLine(replacement)}`);
  }
}

function copySources(copy: string): void {
  mkdirSync(copy);
  for (const path of committedFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

async function passes(copy: string, { tests, store }: TestRun): Promise<boolean> {
  const files = tests.map((path) => `./${path}`);
  const child = Bun.spawn([process.execPath, 'test', '--bail', PATIENCE, ...files], {
    cwd: copy,
    env: {
      ...process.env,
      TEST_STORE: store,
      TEST_POSTGRES: port,
      ...(fastFolder === null ? {} : { TMPDIR: fastFolder }),
    },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS_MAX * 1000);
  const code = await child.exited;
  clearTimeout(timer);
  return code === 0;
}

function report(): void {
  const folders = Map.groupBy(
    files.flatMap((of) => of.changes.map(() => of.file)),
    dirname,
  );
  let isEnough = true;
  console.log('\nkilled     of  percent  folder');
  for (const [name, all] of [...folders].sort(([a], [b]) => a.localeCompare(b))) {
    const alive = survivors.filter(({ of }) => dirname(of.file) === name).length;
    const killed = all.length - alive;
    const percent = (100 * killed) / all.length;
    if (percent < KILLED_PERCENT_MIN) isEnough = false;
    const cells = [String(killed).padStart(6), String(all.length).padStart(6)];
    console.log(`${cells.join(' ')}  ${percent.toFixed(1).padStart(7)}  ${name}`);
  }
  for (const { of, text, replacement } of survivors) {
    console.log(`\nsurvived: ${of.file}\n- ${text}\n+ ${replacement}`);
  }
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  console.log(`mutation: ${count} in ${minutes} min, ${survivors.length} survived`);
  process.exitCode = isEnough ? 0 : 1;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
}

/**
 * `make mutation`: makes each mistake of the list in a copy of the sources and looks whether a test
 * notices. Ends with 1 if fewer than 95 % are noticed in `src/core` or `src/store`.
 *
 *   bun test/mutation/run.ts [PART OF A PATH …]
 *
 * A list of its own instead of a tool: the tools that make mutations by themselves run every test
 * for each of thousands, or need a test runner that tells them what a test covers.
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
import { committedFiles } from '../support/tree.ts';
import { mutatedFiles } from './list/index.ts';
import type { MutatedFile } from './mutation.ts';

interface Mutant {
  of: MutatedFile;
  text: string;
  replacement: string;
}

/** Two at a time: more would slow each other down until tests fail for that. */
const WORKERS = 2;
/** A mutant that never ends is noticed too, s. */
const SECONDS_MAX = 120;
const KILLED_PERCENT_MIN = 95;

const root = join(import.meta.dir, '../..');
const parts = process.argv.slice(2);
const files = mutatedFiles.filter(
  ({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)),
);
const queue = files.flatMap((of) =>
  of.changes.map(([text, replacement]): Mutant => ({ of, text, replacement })),
);
const folder = mkdtempSync(join(tmpdir(), 'gatepost-mutation-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const survivors: Mutant[] = [];
const [count, startMs] = [queue.length, performance.now()];
const copies = Array.from({ length: WORKERS }, (_, at) => join(folder, String(at)));
for (const copy of copies) copySources(copy);
const tests = [...new Set(files.flatMap((each) => each.tests))];
await Promise.all(copies.map(checkUnchanged));
await Promise.all(copies.map(work));
report();

/** Without a mistake the tests pass: or else they would notice anything. */
async function checkUnchanged(copy: string): Promise<void> {
  for (let test = tests.shift(); test !== undefined; test = tests.shift()) {
    if (await passes(copy, [test])) continue;
    console.error(`mutation: ${test} does not pass without a mutation`);
    process.exit(2);
  }
}

async function work(copy: string): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const { of, text, replacement } = mutant;
    const path = join(copy, of.file);
    // Of the copy: whoever goes on working in the sources meanwhile changes nothing here.
    const source = readFileSync(path, 'utf8');
    const at = source.indexOf(text);
    if (at < 0) throw new Error(`${of.file} does not hold: ${text}`);
    writeFileSync(path, source.slice(0, at) + replacement + source.slice(at + text.length));
    const hasSurvived = await passes(copy, of.tests);
    writeFileSync(path, source);
    if (hasSurvived) survivors.push(mutant);
    const says = hasSurvived ? 'SURVIVED' : 'killed  ';
    console.log(`${says} ${of.file}: ${oneLine(text)} -> ${oneLine(replacement)}`);
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

async function passes(copy: string, tests: readonly string[]): Promise<boolean> {
  const files = tests.map((path) => `./${path}`);
  const child = Bun.spawn([process.execPath, 'test', '--bail', ...files], {
    cwd: copy,
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
    folderOf,
  );
  let isEnough = true;
  for (const [name, all] of folders) {
    const alive = survivors.filter(({ of }) => folderOf(of.file) === name).length;
    const percent = (100 * (all.length - alive)) / all.length;
    if (percent < KILLED_PERCENT_MIN) isEnough = false;
    console.log(`${name}: ${all.length - alive} of ${all.length} killed, ${percent.toFixed(1)} %`);
  }
  for (const { of, text, replacement } of survivors) {
    console.log(`\nsurvived: ${of.file}\n- ${text}\n+ ${replacement}`);
  }
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  console.log(`mutation: ${count} in ${minutes} min, ${survivors.length} survived`);
  process.exitCode = isEnough ? 0 : 1;
}

function folderOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
}

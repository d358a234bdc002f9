/**
 * `make mutation`: makes each mutation of the list in a copy of the sources, and runs its tests
 * until one fails. Prints a table by folder of src. Exits with 1 if the tests of a folder kill
 * fewer than 95 %.
 *
 * | Result | Meaning |
 * |---|---|
 * | `killed` | a test failed, and its file passes without a mutation |
 * | `by time` | a test waited in vain, but its file passes quickly without the mutation |
 * | `unclear` | a test waited in vain, and the machine was slow; it runs again at the end, alone |
 * | `SURVIVED` | no test failed, or one failed that fails without a mutation too |
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

interface Outcome {
  isPass: boolean;
  /** The tests ended because something took too long: a busy machine does that too. */
  isByTime: boolean;
  /** The files that ran, in their order; the last one failed, if one did. */
  ran: string[];
}

type Result = 'killed' | 'by time' | 'unclear' | 'SURVIVED';

/** The mutations that run at the same time: many tests wait for a timer more than they compute. */
const WORKERS = Number(process.env['TEST_WORKERS'] ?? navigator.hardwareConcurrency + 1);
/** The time after which tests end that do not end by themselves, s. */
const SECONDS_MAX = 120;
/** The time in which a file passes on a machine that is not too slow for it, s: see `by time`. */
const QUICK_SECONDS = 15;
/** The output of a test that timed out: Bun's words, and those of test/support/until.ts. */
const IMPATIENT = /timed out after \d+ ?ms|waited \d+ ms in vain/;
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

const results = new Map<Mutant, Result>();
/** Whether a file passes without a mutation: it passed with one, or was asked after a kill. */
const unchanged = new Map<string, Promise<boolean>>();
const PASSED = Promise.resolve(true);
const [count, startMs] = [queue.length, performance.now()];
const copies = Array.from({ length: WORKERS }, (_, at) => join(folder, String(at)));
for (const copy of copies) copySources(copy);
// One server for all tests: each test file would start its own.
if (noPostgres !== null) throw new Error(noPostgres);
const port = process.env['TEST_POSTGRES'] ?? String((await startPostgres()).port);
await Promise.all(copies.map(work));
queue.push(...[...results].filter(([, result]) => result === 'unclear').map(([mutant]) => mutant));
await Promise.all(copies.slice(0, 1).map(work));
report();

async function work(copy: string): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const { of, text, replacement } = mutant;
    const path = join(copy, of.file);
    // Of the copy: the sources may change while this runs.
    const source = readFileSync(path, 'utf8');
    const at = source.indexOf(text);
    if (at < 0) throw new Error(`${of.file} does not hold: ${text}`);
    const beganMs = performance.now();
    const store = of.store ?? 'sqlite';
    writeFileSync(path, source.slice(0, at) + replacement + source.slice(at + text.length));
    const outcome = await runTests(copy, { tests: of.tests, store });
    writeFileSync(path, source);
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
    const result = await judge(copy, outcome, store);
    results.set(mutant, result);
    const by = outcome.isPass ? '-' : outcome.ran.at(-1);
    const how = `${result.padEnd(8)} ${seconds.padStart(5)} s ${by}`;
    console.log(`${how} ${of.file}: ${oneLine(text)} -> ${oneLine(replacement)}`);
  }
}

async function judge(
  copy: string,
  { isPass, isByTime, ran }: Outcome,
  store: TestRun['store'],
): Promise<Result> {
  const file = ran.at(-1) ?? '';
  for (const before of ran.slice(0, -1)) unchanged.set(`${before} on ${store}`, PASSED);
  if (isPass) return 'SURVIVED';
  const key = `${file} on ${store}`;
  const beganMs = performance.now();
  const known = isByTime ? undefined : unchanged.get(key);
  const asked = known ?? runTests(copy, { tests: [file], store }).then((outcome) => outcome.isPass);
  unchanged.set(key, asked);
  if (!(await asked)) {
    console.error(`mutation: ${key} does not pass without a mutation`);
    return isByTime ? 'unclear' : 'SURVIVED';
  }
  if (!isByTime) return 'killed';
  return performance.now() - beganMs < QUICK_SECONDS * 1000 ? 'by time' : 'unclear';
}

function copySources(copy: string): void {
  mkdirSync(copy);
  for (const path of committedFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

async function runTests(copy: string, { tests, store }: TestRun): Promise<Outcome> {
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
    stderr: 'pipe',
  });
  let isKilled = false;
  const timer = setTimeout(() => {
    isKilled = true;
    child.kill('SIGKILL');
  }, SECONDS_MAX * 1000);
  const said = new Response(child.stderr).text();
  const isPass = (await child.exited) === 0;
  clearTimeout(timer);
  // A process that the tests left behind holds the pipe open.
  const text = await Promise.race([said, Bun.sleep(1000).then(() => '')]);
  const heads = [...text.matchAll(/^(test\/\S+\.test\.ts):$/gm)].map(([, file]) => file ?? '');
  const ran = heads.length > 0 ? heads : tests.slice(0, 1);
  return { isPass, isByTime: isKilled || (!isPass && IMPATIENT.test(text)), ran };
}

function report(): void {
  const folders = Map.groupBy(results, ([{ of }]) => dirname(of.file));
  const survivors = [...results].filter(([, result]) => isAlive(result));
  let isEnough = true;
  console.log('\nkilled  by time     of  percent  folder');
  for (const [name, all] of [...folders].sort(([a], [b]) => a.localeCompare(b))) {
    const alive = all.filter(([, result]) => isAlive(result)).length;
    const byTime = all.filter(([, result]) => result === 'by time').length;
    const percent = (100 * (all.length - alive)) / all.length;
    if (percent < KILLED_PERCENT_MIN) isEnough = false;
    const cells = [
      String(all.length - alive).padStart(6),
      String(byTime).padStart(8),
      String(all.length).padStart(6),
      percent.toFixed(1).padStart(8),
    ];
    console.log(`${cells.join(' ')}  ${name}`);
  }
  for (const [{ of, text, replacement }] of survivors) {
    console.log(`\nsurvived: ${of.file}\n- ${text}\n+ ${replacement}`);
  }
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  console.log(`mutation: ${count} in ${minutes} min, ${survivors.length} survived`);
  process.exitCode = isEnough ? 0 : 1;
}

function isAlive(result: Result): boolean {
  return result === 'SURVIVED' || result === 'unclear';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
}

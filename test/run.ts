/**
 * Runs every test file, several processes at a time (test/plan.ts has which file runs in which).
 * Prints the slowest files and, as the last line, the count: `N passed, N failed[, N skipped]`.
 *
 *   bun test/run.ts [PART OF A PATH …] [-- OPTION OF bun test …]
 *
 * `make test FILE='door slot'` runs the files with these parts of a path, `make test CHANGED=1`
 * those that import what differs from the last commit, and the tests of a kit that does;
 * `make test CHANGED=main` from another one.
 *
 * Some files run a second time with PostgreSQL as the store, on one server that all files share (by
 * hand: `TEST_STORE=postgres bun test ./test/FILE`). What test/long.ts has runs in
 * `make test-long`, and where `FILE` names it.
 *
 * | Variable | Effect |
 * |---|---|
 * | `TEST_WORKERS` | processes at a time, beside two that wait; default: processors |
 * | `TEST_CHANGED` | only tests that import what differs from this commit; 1: from HEAD |
 * | `TEST_LONG=1` | all of it; kills, races and models for longer (test/support/scale.ts) |
 * | `STORE_SET=off` | the PostgreSQL store runs without its grouped statements |
 * | `TEST_POSTGRES` | the port of a running server; default: one is started |
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testsSince } from './changed.ts';
import { planRuns, type Run } from './plan.ts';
import { emptyDatabase } from './support/empty-database.ts';
import { memoryFolder } from './support/memory-folder.ts';
import { noPostgres, startPostgres } from './support/postgres.ts';
import { binary } from './support/process.ts';
import { IS_LONG } from './support/scale.ts';
import { TEST_MS_MAX } from './support/test-time.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The time after which a process is killed, s. Tests have limits; code after them has none. */
const RUN_SECONDS_MAX = 1_800;
const SLOWEST_SHOWN = 10;
/** The part of a failed file's output that is repeated at the end: lines, and letters of each. */
const FAILURE_LINES_SHOWN = 12;
const FAILURE_LINE_SHOWN = 300;

const root = join(import.meta.dir, '..');
const words = process.argv.slice(2);
const dashes = words.includes('--') ? words.indexOf('--') : words.length;
const [wanted, options] = [words.slice(0, dashes), words.slice(dashes + 1)];
const workerCount = Number(process.env['TEST_WORKERS'] ?? navigator.hardwareConcurrency);

// Built once, before several files find it missing or old.
binary();
const folder = mkdtempSync(join(tmpdir(), 'gatepost-test-'));
const fastFolder = memoryFolder();
const empty = join(folder, 'empty.db');
writeFileSync(empty, await emptyDatabase());
const running = new Set<{ kill(signal: 'SIGTERM'): void }>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM');
    removeFolders();
    process.exit(130);
  });
}

const since = process.env['TEST_CHANGED'] ?? '';
const { files: all, kits } =
  since === ''
    ? { files: [...new Bun.Glob('**/*.test.ts').scanSync(join(root, 'test'))], kits: [] }
    : testsSince(since === '1' ? 'HEAD' : since);
const isWanted = (file: string) =>
  wanted.length === 0 || wanted.some((part) => `test/${file}`.includes(part));
const ofKits = kits.filter(isWanted);
const files = all.filter((file) => isWanted(file) && !ofKits.includes(file));
// A file that is named runs whole, also what else is left to `make test-long`.
const isWhole = IS_LONG || wanted.length > 0;
const stores = noPostgres === null ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);
const runs = [...planRuns(ofKits, stores, true), ...planRuns(files, stores, isWhole)];
// One server for all: each file would start its own.
const needsPostgres =
  runs.some(({ store }) => store === 'postgres') || files.some((file) => file.includes('postgres'));
const port =
  process.env['TEST_POSTGRES'] ??
  (needsPostgres && noPostgres === null ? String((await startPostgres()).port) : undefined);
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
/** The output of each file that failed, by its name. */
const failures = new Map<string, string>();
/** The time of each file, s. */
const seconds = new Map<string, number>();
/** The processor's time of each process with its children, s, by the name of its first file. */
const cpuSeconds = new Map<string, number>();
const waiting = runs.filter(({ isWaiting }) => isWaiting);
const busy = runs.filter(({ isWaiting }) => !isWaiting);
await Promise.all([
  ...Array.from({ length: workerCount }, () => work(busy)),
  ...(workerCount > 1 ? [work(waiting), work(waiting)] : []),
]);
await work(waiting);
removeFolders();

printSlowest();
if (failures.size > 0) {
  // The log may be cut to its end.
  for (const [name, output] of failures) console.log(`\n${name}:\n${whyFailed(output)}`);
  console.log(`\nfailed in: ${[...failures.keys()].join(', ')}`);
}
const { passed, failed, skipped } = total;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
// No file imports what changed, or no file was selected by mistake.
const isEmpty = since !== '' && runs.length === 0;
process.exitCode = failed === 0 && (passed > 0 || isEmpty) ? 0 : 1;

function printSlowest(): void {
  print(`slowest of ${seconds.size} files, s`, seconds);
  const sum = [...cpuSeconds.values()].reduce((a, b) => a + b, 0);
  print(`most of ${sum.toFixed(0)} s of the processor, without PostgreSQL's`, cpuSeconds);
}

function print(title: string, times: ReadonlyMap<string, number>): void {
  const slowest = [...times].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  console.log(`\n${title}:`);
  for (const [name, time] of slowest) console.log(`${time.toFixed(1).padStart(6)}  ${name}`);
}

function removeFolders(): void {
  for (const each of [folder, fastFolder]) {
    if (each !== null) rmSync(each, { recursive: true, force: true });
  }
}

/** Works a queue off. */
async function work(queue: Run[]): Promise<void> {
  for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
    const startMs = performance.now();
    const { reports, output } = await runFiles(run);
    const took = (performance.now() - startMs) / 1000;
    for (const [file, { counts, time }] of reports) {
      // Files that share a process have the time of their tests.
      seconds.set(nameOf(file, run), run.files.length === 1 ? took : time);
      total.passed += counts.passed;
      total.failed += counts.failed;
      total.skipped += counts.skipped;
      if (counts.failed > 0) failures.set(nameOf(file, run), partOf(output, file));
    }
  }
}

function nameOf(file: string, { store }: Run): string {
  return `test/${file}${store === 'postgres' ? ' on PostgreSQL' : ''}`;
}

interface Report {
  counts: Counts;
  time: number;
}

/** Runs the files of a process and prints its output in one piece. */
async function runFiles(run: Run): Promise<{ reports: Map<string, Report>; output: string }> {
  const { files: own, store } = run;
  const path = join(folder, `${store}+${own[0]?.replaceAll('/', '+')}.xml`);
  // The default that test/support/patience.ts sets is for the first file of a process alone.
  const reporter = [`--timeout=${TEST_MS_MAX}`, '--reporter=junit', `--reporter-outfile=${path}`];
  const paths = own.map((file) => `./test/${file}`);
  const child = Bun.spawn([process.execPath, 'test', ...reporter, ...options, ...paths], {
    cwd: root,
    env: {
      ...process.env,
      TEST_STORE: store,
      TEST_EMPTY: empty,
      ...(fastFolder === null || run.needsDisk ? {} : { TMPDIR: fastFolder }),
      ...(port === undefined ? {} : { TEST_POSTGRES: port }),
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  running.add(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_SECONDS_MAX * 1000);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  running.delete(child);
  const cpuUs = Number(child.resourceUsage()?.cpuTime.total ?? 0);
  cpuSeconds.set(nameOf(own[0] ?? '', run), cpuUs / 1e6);
  if (store === 'postgres') console.log('\non PostgreSQL:');
  const output = `${stderr.trim()}\n${stdout.replace(/^bun test v.*\n/, '')}`;
  process.stdout.write(output);
  const { exitCode, signalCode } = child;
  const hasPassed = exitCode === 0;
  const reports = new Map(own.map((file) => [file, readReport(path, file, hasPassed)]));
  const hasFailed = [...reports.values()].some(({ counts }) => counts.failed > 0);
  // A crash is a failure, even if every test passed.
  if (!hasPassed && !hasFailed) {
    console.log(`${own.join(', ')} exited with ${exitCode ?? signalCode}, and no test failed`);
    for (const { counts } of reports.values()) counts.failed += 1;
  }
  return { reports, output };
}

/** Returns the part of an output that is a file's; all of it, if there is none. */
function partOf(output: string, file: string): string {
  const at = output.indexOf(`test/${file}:\n`);
  const own = output.slice(Math.max(0, at));
  const end = own.slice(1).search(/^test\/\S+\.test\.ts:$/m);
  return at < 0 || end < 0 ? own : own.slice(0, end);
}

/** Returns the lines of an output that say what failed, without sources and what passed. */
function whyFailed(output: string): string {
  const lines = output
    .split('\n')
    .filter((line) => /^(?:\(fail\)|error: |\s*[+-] |\s+at )/.test(line));
  return lines
    .slice(0, FAILURE_LINES_SHOWN)
    .map((line) => line.slice(0, FAILURE_LINE_SHOWN))
    .join('\n');
}

/** Reads the report on a file. One that is not in it has no tests, or failed before them. */
function readReport(path: string, file: string, hasPassed: boolean): Report {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // There is no report after a crash.
  }
  const at = text.indexOf(`<testsuite name="test/${file}"`);
  if (at < 0) return { counts: { passed: 0, failed: hasPassed ? 0 : 1, skipped: 0 }, time: 0 };
  const line = text.slice(at, text.indexOf('>', at));
  const count = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(line)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  const passed = count('tests') - failed - skipped;
  return { counts: { passed, failed, skipped }, time: count('time') };
}

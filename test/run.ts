/**
 * Runs every test file in a process of its own, several at a time. Prints the slowest files and, as
 * the last line, the count: `N passed, N failed[, N skipped]`.
 *
 *   bun test/run.ts [PART OF A PATH …] [-- OPTION OF bun test …]
 *
 * Some files run a second time with PostgreSQL as the store, on one server that all files share (by
 * hand: `TEST_STORE=postgres bun test ./test/FILE`).
 *
 * | Variable | Effect |
 * |---|---|
 * | `TEST_WORKERS` | files at a time, beside one that waits; default: processors + 1 |
 * | `TEST_LONG=1` | kills, races and models run for longer (test/support/scale.ts) |
 * | `STORE_SET=off` | the PostgreSQL store runs without its grouped statements |
 * | `TEST_POSTGRES` | the port of a running server; default: one is started |
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryFolder } from './support/memory-folder.ts';
import { noPostgres, startPostgres } from './support/postgres.ts';
import { binary } from './support/process.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Files that run once on SQLite and once on PostgreSQL. */
const ON_BOTH = new Set([
  'core/door.test.ts',
  'core/job.test.ts',
  'core/message/cancel.test.ts',
  'core/message/deliver-keep.test.ts',
  'core/message/deliver-lanes.test.ts',
  'core/message/deliver-model.test.ts',
  'core/message/deliver-targets.test.ts',
  'core/message/deliver.test.ts',
  'core/message/lane-model.test.ts',
  'core/message/push-model.test.ts',
  'core/message/registration-histories.test.ts',
  'core/message/registration-model.test.ts',
  'core/message/send-interval.test.ts',
  'core/model.test.ts',
  'core/slot-model.test.ts',
  'e2e/console-appliance.test.ts',
  'e2e/console-links.test.ts',
  'e2e/console-newcomer.test.ts',
  'e2e/console-rooms.test.ts',
  'e2e/crash.test.ts',
  'e2e/delivery-kill.test.ts',
  'e2e/job-kill.test.ts',
  'e2e/never-stale.test.ts',
  'e2e/outbox-kill.test.ts',
  'e2e/race.test.ts',
  'e2e/ride-soak.test.ts',
  'e2e/slot-life.test.ts',
  'http/bounds.test.ts',
  'http/credentials.test.ts',
  'http/messaging-ack.test.ts',
  'http/messaging-inbox.test.ts',
  'http/messaging-register.test.ts',
  'http/messaging-token.test.ts',
  'http/slot-end-inbox.test.ts',
  'http/stream-life.test.ts',
  'http/stream-once.test.ts',
  'http/stream.test.ts',
  'http/webhook-replay.test.ts',
  'kits/real-nginx.test.ts',
  'kits/real.test.ts',
]);
/** Folders whose files run on both. */
const FOLDERS_ON_BOTH = ['http/coverage/', 'store/contract/'];
/**
 * Files that wait most of their time for a timer, a deadline or a server that is down. They need no
 * processor, so that one worker runs them beside all others.
 */
const WAITING = new Set([
  'cli/simulate.test.ts',
  'e2e/monitor.test.ts',
  'e2e/outgoing-idle.test.ts',
  'e2e/outgoing-secrets.test.ts',
  'e2e/rolling.test.ts',
  'e2e/secrets.test.ts',
  'e2e/stop.test.ts',
  'http/patience.test.ts',
  'http/slow.test.ts',
  'kits/typescript.test.ts',
  'outgoing/alone.test.ts',
  'outgoing/answer.test.ts',
  'outgoing/http2.test.ts',
  'store/postgres-database.test.ts',
  'store/postgres-full-disk.test.ts',
  'store/postgres-opening.test.ts',
  'store/postgres-outage.test.ts',
  'store/postgres-way.test.ts',
]);
/** Files that need a disk: they measure what is written to it. */
const ON_DISK = new Set(['e2e/outgoing-idle.test.ts']);
/** Which files start first: the run must not end with one long file alone. */
const START_ORDER = [/^fuzz/, /^(?:e2e|store|http\/coverage|core\/message)/, /^(?:cli|backup|tls)/];
/** The time after which a file is killed, s. Tests have limits; code after them has none. */
const FILE_SECONDS_MAX = 1_800;
const SLOWEST_SHOWN = 10;
/** The part of a failed file's output that is repeated at the end: lines, and letters of each. */
const FAILURE_LINES_SHOWN = 12;
const FAILURE_LINE_SHOWN = 300;

const root = join(import.meta.dir, '..');
const words = process.argv.slice(2);
const dashes = words.includes('--') ? words.indexOf('--') : words.length;
const [wanted, options] = [words.slice(0, dashes), words.slice(dashes + 1)];
const workerCount = Number(process.env['TEST_WORKERS'] ?? navigator.hardwareConcurrency + 1);

// Built once, before several files find it missing or old.
binary();
const folder = mkdtempSync(join(tmpdir(), 'gatepost-test-'));
const fastFolder = memoryFolder();
const running = new Set<{ kill(signal: 'SIGTERM'): void }>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM');
    removeFolders();
    process.exit(130);
  });
}

interface Run {
  file: string;
  store: 'sqlite' | 'postgres';
  seconds: number;
}

const files = [...new Bun.Glob('**/*.test.ts').scanSync(join(root, 'test'))]
  .filter((file) => wanted.length === 0 || wanted.some((part) => `test/${file}`.includes(part)))
  .sort((a, b) => startRank(a) - startRank(b) || a.localeCompare(b));
const runs: Run[] = files.flatMap((file) => [
  { file, store: 'sqlite', seconds: 0 },
  ...(isOnBoth(file) && noPostgres === null
    ? [{ file, store: 'postgres', seconds: 0 } as const]
    : []),
]);
// One server for all: each file would start its own.
const needsPostgres = runs.some(
  ({ file, store }) => store === 'postgres' || file.includes('postgres'),
);
const port =
  process.env['TEST_POSTGRES'] ??
  (needsPostgres && noPostgres === null ? String((await startPostgres()).port) : undefined);
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
/** The output of each file that failed, by its name. */
const failures = new Map<string, string>();
const waiting = runs.filter(({ file }) => WAITING.has(file));
const busy = runs.filter(({ file }) => !WAITING.has(file));
await Promise.all([
  ...Array.from({ length: workerCount }, () => work(busy)),
  workerCount > 1 ? work(waiting) : null,
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
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function isOnBoth(file: string): boolean {
  return ON_BOTH.has(file) || FOLDERS_ON_BOTH.some((folder) => file.startsWith(folder));
}

function startRank(file: string): number {
  const rank = START_ORDER.findIndex((pattern) => pattern.test(file));
  return rank < 0 ? START_ORDER.length : rank;
}

function printSlowest(): void {
  const slowest = runs.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  console.log(`\nslowest of ${runs.length} files, s:`);
  for (const run of slowest) {
    console.log(`${run.seconds.toFixed(1).padStart(6)}  ${nameOf(run)}`);
  }
}

function removeFolders(): void {
  for (const each of [folder, fastFolder]) {
    if (each !== null) rmSync(each, { recursive: true, force: true });
  }
}

/** Runs files of a queue until it is empty. */
async function work(queue: Run[]): Promise<void> {
  for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
    const startMs = performance.now();
    const { counts, output } = await runFile(run);
    run.seconds = (performance.now() - startMs) / 1000;
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
    if (counts.failed > 0) failures.set(nameOf(run), output);
  }
}

function nameOf({ file, store }: Run): string {
  return `test/${file}${store === 'postgres' ? ' on PostgreSQL' : ''}`;
}

/** Runs one file and prints its output in one piece. */
async function runFile(run: Run): Promise<{ counts: Counts; output: string }> {
  const { file, store } = run;
  const report = join(folder, `${store}+${file.replaceAll('/', '+')}.xml`);
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
  const child = Bun.spawn([process.execPath, 'test', ...reporter, ...options, `./test/${file}`], {
    cwd: root,
    env: {
      ...process.env,
      TEST_STORE: store,
      ...(fastFolder === null || ON_DISK.has(file) ? {} : { TMPDIR: fastFolder }),
      ...(port === undefined ? {} : { TEST_POSTGRES: port }),
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  running.add(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), FILE_SECONDS_MAX * 1000);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  running.delete(child);
  if (store === 'postgres') console.log(`\n${nameOf(run)}:`);
  const output = `${stderr.trim()}\n${stdout.replace(/^bun test v.*\n/, '')}`;
  process.stdout.write(output);
  const { exitCode, signalCode } = child;
  const counts = readReport(report);
  // A crash is a failure, even if every test passed.
  if (exitCode === 0 || counts.failed > 0) return { counts, output };
  console.log(`${nameOf(run)} exited with ${exitCode ?? signalCode}, and no test failed`);
  return { counts: { ...counts, failed: 1 }, output };
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

function readReport(report: string): Counts {
  let text = '';
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    // There is no report after a crash; the exit code shows it.
  }
  const line = /<testsuites [^>]*>/.exec(text)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(line)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

/**
 * Runs every test file in a process of its own, some side by side, and ends with one line that
 * people and machines read the same way.
 *
 *   bun test/run.ts [PART OF A PATH …] [-- OPTION OF bun test …]
 *
 * Some files run a second time with PostgreSQL as the store, on a server that is started for all of
 * them (by hand: `TEST_STORE=postgres bun test ./test/FILE`).
 *
 * `TEST_WORKERS` says how many at a time: by default one more than there are processors, as most of
 * the long tests wait for a disk or another process.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noPostgres, startPostgres } from './support/postgres.ts';
import { binary } from './support/process.ts';

interface Ran {
  passed: number;
  failed: number;
  skipped: number;
}

/** Files that run once on SQLite and once on PostgreSQL. */
const ON_BOTH = new Set([
  'core/door.test.ts',
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
  'e2e/crash.test.ts',
  'e2e/delivery-kill.test.ts',
  'e2e/never-stale.test.ts',
  'e2e/outbox-kill.test.ts',
  'e2e/race.test.ts',
  'e2e/slot-life.test.ts',
  'http/bounds.test.ts',
  'http/coverage.test.ts',
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
]);
/** All of these folders, too. */
const FOLDERS_ON_BOTH = ['store/contract/'];
/** The longest begin first, so that nobody waits for one that began last. */
const LONG = /^(?:fuzz|e2e|cli|http\/slow|store|tls)/;
/** No file may take longer, s: each test has a limit of its own, what hangs after it has none. */
const FILE_SECONDS_MAX = 1_800;

const root = join(import.meta.dir, '..');
const words = process.argv.slice(2);
const dashes = words.includes('--') ? words.indexOf('--') : words.length;
const [wanted, options] = [words.slice(0, dashes), words.slice(dashes + 1)];
const workerCount = Number(process.env['TEST_WORKERS'] ?? navigator.hardwareConcurrency + 1);

// Before two files find at once that it is old.
binary();
const folder = mkdtempSync(join(tmpdir(), 'gatepost-test-'));
const running = new Set<{ kill(signal: 'SIGTERM'): void }>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    process.exit(130);
  });
}

interface Run {
  file: string;
  store: 'sqlite' | 'postgres';
}

const files = [...new Bun.Glob('**/*.test.ts').scanSync(join(root, 'test'))]
  .filter((file) => wanted.length === 0 || wanted.some((part) => `test/${file}`.includes(part)))
  .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || a.localeCompare(b));
const runs: Run[] = files.flatMap((file) => [
  { file, store: 'sqlite' },
  ...(isOnBoth(file) && noPostgres === null ? [{ file, store: 'postgres' } as const] : []),
]);
// One for all: each file would start its own.
const isAsked = runs.some(({ file, store }) => store === 'postgres' || file.includes('postgres'));
const port =
  process.env['TEST_POSTGRES'] ??
  (isAsked && noPostgres === null ? String((await startPostgres()).port) : undefined);
const total: Ran = { passed: 0, failed: 0, skipped: 0 };
const failedFiles: string[] = [];
let next = 0;
await Promise.all(Array.from({ length: workerCount }, work));
rmSync(folder, { recursive: true, force: true });

if (failedFiles.length > 0) console.log(`\nfailed in: ${failedFiles.join(', ')}`);
const { passed, failed, skipped } = total;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function isOnBoth(file: string): boolean {
  return ON_BOTH.has(file) || FOLDERS_ON_BOTH.some((folder) => file.startsWith(folder));
}

async function work(): Promise<void> {
  for (let run = runs[next++]; run !== undefined; run = runs[next++]) {
    const ran = await runFile(run);
    total.passed += ran.passed;
    total.failed += ran.failed;
    total.skipped += ran.skipped;
    if (ran.failed > 0) failedFiles.push(nameOf(run));
  }
}

function nameOf({ file, store }: Run): string {
  return `test/${file}${store === 'postgres' ? ' on PostgreSQL' : ''}`;
}

/** Runs one file and prints what it printed, in one piece. */
async function runFile(run: Run): Promise<Ran> {
  const { file, store } = run;
  const report = join(folder, `${store}+${file.replaceAll('/', '+')}.xml`);
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
  const child = Bun.spawn([process.execPath, 'test', ...reporter, ...options, `./test/${file}`], {
    cwd: root,
    env: {
      ...process.env,
      TEST_STORE: store,
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
  process.stdout.write(`${stderr.trim()}\n${stdout.replace(/^bun test v.*\n/, '')}`);
  const { exitCode, signalCode } = child;
  const ran = read(report);
  // A crash is a failure, even if no test says so.
  if (exitCode === 0 || ran.failed > 0) return ran;
  console.log(`${nameOf(run)} ended with ${exitCode ?? signalCode}, and no test says why`);
  return { ...ran, failed: 1 };
}

function read(report: string): Ran {
  let text = '';
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    // It ended before it could write one: its exit code says so.
  }
  const line = /<testsuites [^>]*>/.exec(text)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(line)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

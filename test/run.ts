/**
 * Runs every test file in a process of its own, some side by side, and ends with one line that
 * people and machines read the same way.
 *
 *   bun test/run.ts [PART OF A PATH …] [-- OPTION OF bun test …]
 *
 * `TEST_WORKERS` says how many at a time: by default one more than there are processors, as most of
 * the long tests wait for a disk or another process.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from './support/process.ts';

interface Ran {
  passed: number;
  failed: number;
  skipped: number;
}

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

const files = [...new Bun.Glob('**/*.test.ts').scanSync(join(root, 'test'))]
  .filter((file) => wanted.length === 0 || wanted.some((part) => `test/${file}`.includes(part)))
  .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || a.localeCompare(b));
const total: Ran = { passed: 0, failed: 0, skipped: 0 };
const failedFiles: string[] = [];
let next = 0;
await Promise.all(Array.from({ length: workerCount }, work));
rmSync(folder, { recursive: true, force: true });

if (failedFiles.length > 0) console.log(`\nfailed in: ${failedFiles.join(', ')}`);
const { passed, failed, skipped } = total;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function work(): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++]) {
    const ran = await runFile(file);
    total.passed += ran.passed;
    total.failed += ran.failed;
    total.skipped += ran.skipped;
    if (ran.failed > 0) failedFiles.push(`test/${file}`);
  }
}

/** Runs one file and prints what it printed, in one piece. */
async function runFile(file: string): Promise<Ran> {
  const report = join(folder, `${file.replaceAll('/', '+')}.xml`);
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
  const child = Bun.spawn([process.execPath, 'test', ...reporter, ...options, `./test/${file}`], {
    cwd: root,
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
  process.stdout.write(`${stderr.trim()}\n${stdout.replace(/^bun test v.*\n/, '')}`);
  const { exitCode, signalCode } = child;
  const ran = read(report);
  // A crash is a failure, even if no test says so.
  if (exitCode === 0 || ran.failed > 0) return ran;
  console.log(`test/${file} ended with ${exitCode ?? signalCode}, and no test says why`);
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

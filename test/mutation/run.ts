/**
 * `make mutation`: plants mistakes by a seed over the syntax trees of `src` (plant.ts), and over
 * the CHECKs of the tables, each in a copy, and runs the tests that are nearest to it (nearest.ts)
 * until one fails. Prints each, then what no test noticed. Exits with 1 if fewer than 85 % are
 * noticed.
 *
 * Results are kept in `dist/mutation-SEED.jsonl`, line by line: a run that was ended goes on, and
 * tries again at its end what was not noticed. Two machines share a run by `PART=1/2`, `PART=2/2`
 * and their files put together. After `MINUTES` no other mistake is begun; 0 prints what is known.
 *
 * | Result | Meaning |
 * |---|---|
 * | `noticed` | a test failed, and its file passes without the mistake |
 * | `by time` | a test did not end in time, and its file passes in half of it without the mistake |
 * | `UNNOTICED` | each test passed, or failed without the mistake too |
 *
 *   SEED=7 COUNT=200 MINUTES=60 PART=1/2 bun test/mutation/run.ts [PART OF A PATH …]
 */

import {
  appendFileSync,
  cpSync,
  existsSync,
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
import { Random } from '../support/random.ts';
import { committedFiles, ROOT, readText } from '../support/tree.ts';
import { isAllowed } from './allowed.ts';
import { ranking } from './nearest.ts';
import { Compiler, planted, SOURCES, withMistake } from './places.ts';
import type { Mistake } from './plant.ts';

type Result = 'noticed' | 'by time' | 'UNNOTICED';

/** A line of the file of results. */
interface Line {
  mistake: string;
  result: Result;
}

const WORKERS = Number(process.env['TEST_WORKERS'] ?? navigator.hardwareConcurrency);
/** Test files for a mistake, and the time for all of them, ms: others notice it by chance. */
const TESTS_MAX = 30;
const MISTAKE_MS_MAX = 240_000;
/** The time after which a test file is ended that does not end by itself, ms. */
const TEST_MS_MAX = 60_000;
/** Memory that a test file may take: a mistake can make a loop that only ends with it. */
const MEMORY_BYTES_MAX = 4 * 1024 ** 3;
const LOOK_MS = 500;
const PAGE_BYTES = 4096;
const NOTICED_PERCENT_MIN = 85;
const SHOWN_MAX = 100;

const parts = process.argv.slice(2);
const seed = Number(process.env['SEED'] || 7);
const wanted = Number(process.env['COUNT'] || 60);
const [part = 1, partCount = 1] = (process.env['PART'] || '1/1').split('/').map(Number);
const untilMs = performance.now() + Number(process.env['MINUTES'] || Infinity) * 60_000;
const kept = join(ROOT, 'dist', `mutation-${seed}.jsonl`);
const files = SOURCES.filter((path) => parts.length === 0 || parts.some((p) => path.includes(p)));
const folder = mkdtempSync(join(tmpdir(), 'gatepost-mutation-'));
const fastFolder = memoryFolder();
/** The leaders of groups: what a test starts ends with it. */
const running = new Set<number>();
process.once('exit', () => {
  for (const pid of running) killGroup(pid);
  for (const each of [folder, fastFolder]) {
    if (each !== null) rmSync(each, { recursive: true, force: true });
  }
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const startMs = performance.now();
const all = await chosen();
const results = new Map(readKept().map(({ mistake, result }) => [mistake, result]));
const queue = all
  .filter((_, at) => at % partCount === part - 1)
  .filter((mistake) => (results.get(shown(mistake)) ?? 'UNNOTICED') === 'UNNOTICED')
  .toSorted((a, b) => Number(results.has(shown(a))) - Number(results.has(shown(b))));
console.log(`mutation: ${all.length} mistakes by seed ${seed}, ${queue.length} of them to try`);
const testsOf = ranking();
// One server for all tests: each test file would start its own.
if (noPostgres !== null) throw new Error(noPostgres);
const port = process.env['TEST_POSTGRES'] ?? String((await startPostgres()).port);
/** By test and store: how long it takes without a mistake, ms; null: it fails. */
const plain = new Map<string, Promise<number | null>>();
await Promise.all(Array.from({ length: WORKERS }, (_, at) => work(join(folder, String(at)))));
report();
process.exit();

async function chosen(): Promise<Mistake[]> {
  await using compiler = new Compiler(ROOT);
  const all: Mistake[] = [];
  for await (const mistake of planted(compiler, files, new Random(seed))) {
    if (isAllowed(mistake.file, changeOf(mistake))) continue;
    all.push(mistake);
    if (all.length === wanted) break;
  }
  return all;
}

async function work(copy: string): Promise<void> {
  copySources(copy);
  while (performance.now() < untilMs) {
    const mistake = queue.shift();
    if (mistake === undefined) break;
    const beganMs = performance.now();
    const [result, test] = await judge(copy, mistake);
    const line: Line = { mistake: shown(mistake), result };
    results.set(line.mistake, result);
    appendFileSync(kept, `${JSON.stringify(line)}\n`);
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
    console.log(`${result.padEnd(9)} ${seconds.padStart(4)} s ${shown(mistake)}`);
    if (test !== null) console.log(`${' '.repeat(17)}by ${test}`);
  }
}

/** Returns what became of a mistake, and the test that noticed it. */
async function judge(copy: string, mistake: Mistake): Promise<[Result, test: string | null]> {
  const path = join(copy, mistake.file);
  const source = readText(mistake.file);
  const store = /^(?:src\/store|migrations)\/postgres\//.test(mistake.file) ? 'postgres' : 'sqlite';
  const endMs = performance.now() + MISTAKE_MS_MAX;
  for (const test of testsOf(mistake.file, linesBefore(mistake).length).slice(0, TESTS_MAX)) {
    if (performance.now() > endMs) break;
    writeFileSync(path, withMistake(source, mistake));
    const took = await runTest(copy, test, store);
    writeFileSync(path, source);
    if (typeof took === 'number') continue;
    const key = `${test} on ${store}`;
    const usual = plain.get(key) ?? asNumber(runTest(copy, test, store));
    plain.set(key, usual);
    const usualMs = await usual;
    if (usualMs === null) console.error(`mutation: ${key} fails without a mistake`);
    else if (took === 'failed') return ['noticed', test];
    else if (usualMs < TEST_MS_MAX / 2) return ['by time', test];
  }
  return ['UNNOTICED', null];
}

async function asNumber(took: ReturnType<typeof runTest>): Promise<number | null> {
  const ms = await took;
  return typeof ms === 'number' ? ms : null;
}

/** Runs a test file. Returns its time if it passed, ms. */
async function runTest(
  copy: string,
  test: string,
  store: 'sqlite' | 'postgres',
): Promise<number | 'failed' | 'endless'> {
  const beganMs = performance.now();
  const child = Bun.spawn([process.execPath, 'test', '--bail', '--timeout=60000', `./${test}`], {
    cwd: copy,
    env: {
      ...process.env,
      TEST_STORE: store,
      TEST_POSTGRES: port,
      ...(fastFolder === null ? {} : { TMPDIR: fastFolder }),
    },
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  running.add(child.pid);
  const watch = setInterval(() => {
    const isLate = performance.now() - beganMs > TEST_MS_MAX;
    if (isLate || memoryOf(child.pid) > MEMORY_BYTES_MAX) killGroup(child.pid);
  }, LOOK_MS);
  const code = await child.exited;
  clearInterval(watch);
  killGroup(child.pid);
  running.delete(child.pid);
  if (code === 0) return performance.now() - beganMs;
  return child.signalCode === 'SIGKILL' ? 'endless' : 'failed';
}

function memoryOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function readKept(): Line[] {
  mkdirSync(dirname(kept), { recursive: true });
  const text = existsSync(kept) ? readFileSync(kept, 'utf8') : '';
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
}

/** The times stay: make makes again what is newer. */
function copySources(copy: string): void {
  for (const path of committedFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path), { preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
}

function report(): void {
  const tried = all.map(shown).filter((mistake) => results.has(mistake));
  const alive = tried.filter((mistake) => results.get(mistake) === 'UNNOTICED');
  console.log('');
  for (const mistake of alive) console.log(`unnoticed: ${mistake}`);
  const percent = (100 * (tried.length - alive.length)) / Math.max(1, tried.length);
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  const noticed = `${tried.length - alive.length} of ${tried.length} noticed`;
  if (tried.length < all.length) console.log(`not tried: ${all.length - tried.length}`);
  console.log(`mutation: ${noticed}, ${percent.toFixed(1)} %, seed ${seed}, ${minutes} min`);
  process.exitCode = percent < NOTICED_PERCENT_MIN ? 1 : 0;
}

function linesBefore({ file, from }: Mistake): string[] {
  return readText(file).slice(0, from).split('\n');
}

function changeOf({ file, from, to, replacement }: Mistake): string {
  const before = readText(file).slice(from, to);
  return `${oneLine(before)} → ${oneLine(replacement) || 'nothing'}`;
}

function shown(mistake: Mistake): string {
  const lines = linesBefore(mistake);
  const place = `${mistake.file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
  return `${place} (${mistake.kind}) ${changeOf(mistake)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN_MAX);
}

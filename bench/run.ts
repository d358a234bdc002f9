/**
 * `make bench`: measures the compiled executable beside a bare Bun.serve and writes
 * `bench/results/DATE.md`; then `worst.ts`, which writes `DATE-worst.md`.
 *
 *   --quick      short rounds, to see that everything works; writes no file
 *   --only NAME  only the case of that name (a case of `load.lua`, or `start`); writes no file
 *   --run N      links that a provider adds in a row before another's turn (default 1); no file
 *   --executable FILE  measure this one instead of dist/gatepost; writes no file
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CASES,
  measure,
  type Plan,
  type Row,
  type SeededDatabase,
  startGatepost,
} from './cases.ts';
import { environment, processorTimes } from './environment.ts';
import { median } from './load.ts';
import { stopAll } from './process.ts';
import { markdown, type StartFigures } from './report.ts';
import { seed } from './seed.ts';
import { authKey, providerCode, type Shape } from './shape.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    run: { type: 'string', default: '1' },
    executable: { type: 'string' },
  },
});
const root = join(import.meta.dir, '..');
const gatepost = options.executable ?? join(root, 'dist', 'gatepost');
const run = Number(options.run);
/** Only the whole bench, on what everybody would build, is worth keeping. */
const isKept = !options.quick && !options.only && !options.executable && run === 1;

const SMALL: Shape = {
  name: 'small',
  providerCount: 2,
  linkCount: 10_000,
  deviceCount: 10_000,
  run,
};
const LARGE: Shape = {
  name: 'large',
  providerCount: 500,
  linkCount: 5_000_000,
  deviceCount: 1_000_000,
  run,
};

const NOTES = [
  'One id, known HWID, new HWIDs and add-install choose provider, link and device at random over the whole database: in the large one nothing stays in a cache by luck.',
  `Each provider adds ${run === 1 ? 'one link' : `${run} links`} before the next one's turn, so its newest 5000 lie ${run === 1 ? 'on as many pages' : 'scattered'} among everybody else's.`,
  'The small database is copied again for each case that writes. It grows while the case runs.',
  'For the large database, one commit per request runs in a second process on the same file: they take turns.',
  'p50 and p99 are under full load, as wrk reports them: most of it is waiting behind the other connections.',
  'Idle memory counts the mapped pages of the executable, which every process of it shares; "anonymous" does not.',
];

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const wanted = CASES.filter(({ kind }) => options.only === undefined || options.only === kind);
if (wanted.length === 0 && options.only !== 'start') {
  const names = [...new Set(CASES.map(({ kind }) => kind)), 'start'];
  console.error(`unknown case '${options.only}': ${names.join(', ')}`);
  process.exit(2);
}
if (!Bun.which('wrk')) {
  console.error("wrk was not found: 'make bench-tools' installs it");
  process.exit(1);
}

const before = processorTimes();
const plan: Plan = {
  gatepost,
  bare: compileBare(),
  databases: [makeDatabase(SMALL, true), makeDatabase(LARGE, false)],
  rounds: options.quick ? 2 : 5,
  seconds: options.quick ? 1 : 2,
  folder,
};
const start = options.only === undefined || options.only === 'start' ? await measureStart() : null;
const rows: Row[] = [];
for (const of of wanted) {
  progress(`${of.title}, ${of.connections} connections`);
  rows.push(...(await measure(of, plan)));
}

const date = new Date().toISOString().slice(0, 10);
const text = markdown({
  date,
  rounds: plan.rounds,
  seconds: plan.seconds,
  environment: environment(plan.gatepost, folder, before),
  rows,
  start,
  notes: NOTES,
});
console.log(text);
if (isKept) {
  const results = join(root, 'bench', 'results');
  mkdirSync(results, { recursive: true });
  await Bun.write(join(results, `${date}.md`), text);
  progress(`written to bench/results/${date}.md`);
  const worst = [process.execPath, join(import.meta.dir, 'worst.ts')];
  process.exit(Bun.spawnSync(worst, { stdout: 'inherit', stderr: 'inherit' }).exitCode);
}
process.exit(0);

function progress(what: string): void {
  console.error(`bench: ${what}`);
}

/** The same Bun as the product's, compiled the same way. */
function compileBare(): string {
  const file = join(folder, 'bare');
  const flags = ['--compile', '--bytecode', '--format', 'esm', '--minify-syntax'];
  const source = join(import.meta.dir, 'bare.ts');
  const build = Bun.spawnSync([process.execPath, 'build', ...flags, '--outfile', file, source]);
  if (build.exitCode !== 0) throw new Error(build.stderr.toString());
  return file;
}

function makeDatabase(shape: Shape, isCopied: boolean): SeededDatabase {
  progress(`a database with ${shape.linkCount} links and ${shape.deviceCount} devices`);
  const dataDir = join(folder, shape.name);
  seed(gatepost, dataDir, shape, Date.now());
  return { shape, dataDir, isCopied };
}

/** How long from starting the process to the end of its first answer, with the large database. */
async function measureStart(): Promise<StartFigures> {
  progress('start and idle memory');
  const starts = options.quick ? 3 : 11;
  const dataDir = join(folder, LARGE.name);
  const question = `/api/list-install?provider_code=${providerCode(1)}&auth_key=${authKey(1)}&id=1`;
  const times: number[] = [];
  for (;;) {
    const startMs = performance.now();
    const server = await startGatepost(plan.gatepost, dataDir);
    const answer = await (await fetch(server.url + question)).text();
    times.push(performance.now() - startMs);
    if (!answer.startsWith('{"rc":1')) throw new Error(`not an answer: ${answer}`);
    if (times.length === starts) {
      // Memory as an operator sees it who looks at a server that has been left alone.
      await Bun.sleep(3_000);
      const idle = server.memory();
      await server.stop();
      const [firstAnswerMs, slowestMs] = [median(times), Math.max(...times)];
      return { firstAnswerMs, slowestMs, starts, devices: LARGE.deviceCount, idle };
    }
    await server.stop();
  }
}

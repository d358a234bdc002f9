/**
 * A backup while links are being added at a steady rate: how long each call took before, during and
 * after it, and whether the restored copy holds exactly what was acknowledged. Prints one table;
 * nothing is written to the repository.
 *
 *   bun bench/backup.ts [--rate 10000] [--links 300000] [--connections 64] [--executable FILE]
 *
 * Without --executable the program runs from source. `--links` is how many there are before.
 * `--encrypt` makes an encrypted backup; `--quiet` seconds are measured before the first.
 */

import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BackupLoad, type Call, codeOf } from './backup-load.ts';
import { startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '10000' },
    links: { type: 'string', default: '300000' },
    connections: { type: 'string', default: '64' },
    quiet: { type: 'string', default: '10' },
    backups: { type: 'string', default: '3' },
    encrypt: { type: 'boolean', default: false },
    executable: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const quietMs = Number(options.quiet) * 1000;
const AUTH_KEY = 'k'.repeat(32);
const CODE = 'BENCH001';

const source = join(import.meta.dir, '..', 'src', 'main.ts');
const program = options.executable ? [options.executable] : [process.execPath, source];
const folder = mkdtempSync(join(options.folder, 'gatepost-bench-'));
const dataDir = join(folder, 'data');
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const wallMs = () => performance.timeOrigin + performance.now();

async function run(...words: string[]): Promise<string> {
  const child = Bun.spawn([...program, ...words], { stdout: 'pipe', stderr: 'pipe' });
  const [printed, said] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.exitCode !== 0) throw new Error(said);
  return printed;
}

async function makeDatabase(): Promise<void> {
  const identity = ['--name', 'bench', '--code', CODE, '--key', AUTH_KEY];
  const plan = ['--plan', 'enterprise', '--max-links', '900000000'];
  await run('provider', 'add', '--data', dataDir, ...plan, ...identity);
  const db = new Database(join(dataDir, 'gatepost.db'));
  db.run('PRAGMA foreign_keys = OFF');
  const add = db.prepare(`INSERT INTO install
    (provider_id, install_code, install_limit, status, created_at_ms) VALUES (1, ?, 3, 10, 0)`);
  db.transaction(() => {
    for (let n = 0; n < Number(options.links); n++) add.run(codeOf(`seed${n}`));
  })();
  add.finalize();
  db.close();
}

function figures(name: string, calls: readonly Call[]): void {
  const took = calls.map(({ sentMs, ackMs }) => ackMs - sentMs).sort((a, b) => a - b);
  const queued = calls.map(({ dueMs, ackMs }) => ackMs - dueMs).sort((a, b) => a - b);
  const at = (part: number) =>
    (took[Math.floor((took.length - 1) * part)] ?? Number.NaN).toFixed(1);
  const late = (ms: number) => took.filter((value) => value > ms).length;
  const first = Math.min(...calls.slice(0, 1).map(({ sentMs }) => sentMs));
  const seconds = ((calls.at(-1)?.sentMs ?? first) - first) / 1000;
  console.log(
    `${name}: ${took.length} calls, ${Math.round(took.length / seconds)}/s, p50 ${at(0.5)} ms, ` +
      `p99 ${at(0.99)} ms, max ${at(1)} ms, over 50 ms: ${late(50)}, over 100 ms: ${late(100)}; from when due: p99 ${(queued[Math.floor(queued.length * 0.99)] ?? 0).toFixed(0)} ms, max ${(queued.at(-1) ?? 0).toFixed(0)} ms`,
  );
}

/** Whether the copy holds what it must and nothing else; says so. */
async function compare(file: string, began: number, ended: number, calls: readonly Call[]) {
  const copy = join(folder, 'copy');
  rmSync(copy, { recursive: true, force: true });
  await run('restore', file, '--data', copy, ...secret);
  const db = new Database(join(copy, 'gatepost.db'), { readonly: true });
  const rows = db.query<{ code: string }, []>('SELECT install_code AS code FROM install').all();
  db.close();
  const codes = new Set(rows.map(({ code }) => code));
  const missing = calls.filter(({ code, ackMs }) => ackMs < began && !codes.has(code)).length;
  const tooNew = calls.filter(({ code, sentMs }) => sentMs > ended && codes.has(code)).length;
  const held = calls.filter(({ code }) => codes.has(code));
  // Ids are given out in the order of commits: a copy of one moment has no gap.
  const unknown = rows.length - Number(options.links) - held.length;
  console.log(
    `restored: ${rows.length} links; acknowledged before and missing ${missing}, ` +
      `sent after and there ${tooNew}, there and never acknowledged ${unknown}`,
  );
}

const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, 'a passphrase for the bench\n', { mode: 0o600 });
const secret = options.encrypt ? ['--passphrase-file', passphraseFile] : [];

await makeDatabase();
const { url } = await startServer([...program, 'serve', '--port', '0', '--data', dataDir]);
const query = `provider_code=${CODE}&auth_key=${AUTH_KEY}&install_limit=3&note=bench`;
const load = new BackupLoad(url, `/api/add-install?${query}`, {
  rate: Number(options.rate),
  connections: Number(options.connections),
});
void load.run();
await Bun.sleep(quietMs);
const spans: { began: number; ended: number; file: string }[] = [];
for (let n = 0; n < Number(options.backups); n++) {
  const file = join(folder, `${n}.backup`);
  const began = wallMs();
  await run('backup', file, '--data', dataDir, ...secret);
  const ended = wallMs();
  const walMib = statSync(join(dataDir, 'gatepost.db-wal')).size / 1024 / 1024;
  const mib = (path: string) => (statSync(path).size / 1024 / 1024).toFixed(0);
  console.log(
    `backup ${n + 1}: ${((ended - began) / 1000).toFixed(1)} s, database ` +
      `${mib(join(dataDir, 'gatepost.db'))} MiB, file ${mib(file)} MiB, WAL ${walMib.toFixed(0)} MiB`,
  );
  spans.push({ began, ended, file });
  await Bun.sleep(quietMs / 2);
}
const calls = await load.end();
const within = (from: number, to: number) =>
  calls.filter(({ sentMs, ackMs }) => ackMs >= from && sentMs < to);
const firstBegan = spans[0]?.began ?? 0;
figures('before', within(firstBegan - quietMs + 2000, firstBegan));
for (const [n, { began, ended }] of spans.entries()) {
  figures(`during backup ${n + 1} and 1 s after`, within(began, ended + 1000));
  figures(`later, after backup ${n + 1}`, within(ended + 1000, ended + quietMs / 2));
}
console.log(`calls that failed: ${load.failed}; sent late by more than 50 ms: ${load.late}`);
for (const { file, began, ended } of spans) await compare(file, began, ended, calls);
process.exit(0);

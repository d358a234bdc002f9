/**
 * `gatepost move-database` of many devices, there and back: how long it takes, that a move which is
 * killed at 30 % and at 70 % loses nothing, and that exports, lists and the audit log of both sides
 * are the same byte for byte. Prints one table; nothing is written to the repository.
 *
 *   bun bench/move.ts --server PORT [--devices 1000000] [--sends 3] [--executable FILE]
 *
 * On 127.0.0.1:PORT a PostgreSQL takes the user `postgres` without a password; a database is made
 * there and dropped.
 */

import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SQL } from 'bun';
import { blockAfter, NO_ANCHOR } from '../src/core/audit/chain.ts';
import { AUTH_KEY, providerCode, seedDevices } from './messaging-seed.ts';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000000' },
    sends: { type: 'string', default: '3' },
    server: { type: 'string', default: '5432' },
    executable: { type: 'string', default: join(import.meta.dir, '../dist/gatepost') },
    folder: { type: 'string', default: tmpdir() },
  },
});
const deviceCount = Number(options.devices);
const sendCount = Number(options.sends);
const PROVIDER_COUNT = 5;
const ENTRY_COUNT = 100_000;
/** Shares of the rows at which a move is killed. */
const KILLS = [0.3, 0.7];

const folder = mkdtempSync(join(options.folder, 'gatepost-bench-'));
const dataDir = join(folder, 'data');
const name = `gatepost_move_${process.pid}`;
const url = `postgres://postgres@127.0.0.1:${options.server}/${name}`;
const server = new SQL({
  adapter: 'postgres',
  hostname: '127.0.0.1',
  port: Number(options.server),
  max: 1,
  username: 'postgres',
  password: '',
  database: 'postgres',
  tls: false,
});

function spawn(words: readonly string[], isServer: boolean) {
  return Bun.spawn([options.executable, ...words, '--data', dataDir], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GATEPOST_CONFIG: 'none',
      ...(isServer ? { GATEPOST_DATABASE_URL: url } : {}),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function run(words: readonly string[], isServer: boolean): Promise<string> {
  const child = spawn(words, isServer);
  const [printed, said] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')}: ${said}`);
  return printed;
}

/** Distributions that were sent to every device, and a log with many entries. */
function seedLedger(nowMs: number): void {
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('PRAGMA synchronous = OFF');
  for (let n = 1; n <= sendCount; n++) {
    db.run(
      `INSERT INTO distribution (id, provider_id, notification_type, status, target_os,
         target_hwid, created_at_ms, due_at_ms, reaches_unbound, expires_at_ms, payload)
       VALUES (?, 1, 10, 10, 'android', '', ?, ?, 0, ?, '{"title":"T","body":"\\\\ and \\t"}')`,
      [n, nowMs, nowMs, nowMs + 1e9],
    );
    for (const status of [20, 5, 40, 100]) {
      db.run('UPDATE distribution SET status = ? WHERE id = ?', [status, n]);
    }
    db.run(
      `INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
         sent_at_ms, received_at_ms)
       SELECT ?1, id, 2, 1, id % 3 = 0, ?2, ?2 + 1, iif(id % 3 = 0, NULL, ?2 + id % 1000)
       FROM device`,
      [n, nowMs],
    );
    db.run(
      'UPDATE distribution SET recipient_count = ?, sent_count = ?, finished_at_ms = ? WHERE id = ?',
      [deviceCount, deviceCount, nowMs, n],
    );
  }
  const head = db
    .query<{ number: number; hash: Uint8Array }, []>(
      'SELECT last_number AS number, hash FROM audit ORDER BY last_number DESC LIMIT 1',
    )
    .get();
  const add = db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?)');
  db.run('BEGIN');
  let before: Pick<ReturnType<typeof blockAfter>, 'number' | 'hash'> = head ?? NO_ANCHOR;
  for (let n = 0; n < ENTRY_COUNT; n += 5) {
    const at = new Date(nowMs).toISOString();
    const entry = (id: number) =>
      `{"at":"${at}","who":"operator","name":"bench","from":"local","action":"install.add","provider":"${providerCode(1)}","object":{"id":${id}}}`;
    const texts = Array.from({ length: 5 }, (_, i) => ({ atMs: nowMs, text: entry(n + i) }));
    const block = blockAfter(before, texts);
    add.run(block.number, block.atMs, block.prevHash, block.hash, block.entries);
    before = block;
  }
  db.run('COMMIT');
  add.finalize();
  db.close(true);
}

/** SHA-256 of all that both sides print. */
async function prints(isServer: boolean): Promise<Record<string, string>> {
  const asked = [
    ...Array.from({ length: PROVIDER_COUNT }, (_, i) => ['export', providerCode(i + 1)]),
    ['provider', 'list', '--json'],
    ['link', 'list', '--all', '--json'],
    ['device', 'list', '--limit', '20000', '--json'],
    ['distribution', 'list', '--all', '--json'],
    ['distribution', 'show', '1', '--json'],
    ['audit', 'export'],
  ];
  const found: Record<string, string> = {};
  for (const words of asked) {
    const printed = await run(words, isServer);
    // The move itself is the last entry of the other side's log.
    const text =
      words[0] === 'audit'
        ? printed
            .split('\n')
            .filter((line) => !line.includes('"action":"database.move"'))
            .join('\n')
        : printed;
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    found[words.join(' ')] = `${hash} ${text.length}`;
  }
  return found;
}

/** Begins a move and kills it at that share of the rows. */
async function kill(to: string, isServer: boolean, share: number): Promise<string> {
  const child = spawn(['move-database', '--to', to], isServer);
  let said = '';
  for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
    said += piece;
    const [, done = '0', total = '1'] = /(\d+) of (\d+) rows[^\n]*\n$/.exec(said) ?? [];
    if (Number(done) / Number(total) < share) continue;
    child.kill('SIGKILL');
    await child.exited;
    return `${Math.round((Number(done) / Number(total)) * 100)} %`;
  }
  throw new Error(`it ended before it was killed: ${said}`);
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function moveAndTime(to: string, isServer: boolean): Promise<string> {
  const beganMs = performance.now();
  const child = spawn(['move-database', '--to', to, '--json'], isServer);
  const printed = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  const report = JSON.parse(printed);
  const tookMs = performance.now() - beganMs;
  const processorMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000;
  const rows = Object.values<number>(report.rows).reduce((sum, count) => sum + count, 0);
  const rate = Math.round(rows / (tookMs / 1000));
  return `${rows} rows in ${seconds(tookMs)} (${seconds(processorMs)} of processor), ${rate} a second`;
}

function compare(what: string, one: Record<string, string>, other: Record<string, string>): void {
  const differing = Object.keys(one).filter((key) => one[key] !== other[key]);
  console.log(
    `${what}: ${differing.length === 0 ? 'the same' : `OTHERS: ${differing.join(', ')}`}`,
  );
  if (differing.length > 0) process.exitCode = 1;
}

try {
  const identity = ['--name', 'bench', '--code', providerCode(1), '--key', AUTH_KEY];
  await run(['provider', 'add', '--plan', 'enterprise', ...identity], false);
  const nowMs = Date.now();
  seedDevices(dataDir, { deviceCount, providerCount: PROVIDER_COUNT }, nowMs);
  seedLedger(nowMs);
  const before = await prints(false);
  console.log(`seeded ${deviceCount} devices, ${deviceCount * sendCount} ledger rows`);
  await server.unsafe(`CREATE DATABASE ${name}`);
  for (const share of KILLS) {
    console.log(`to PostgreSQL: killed at ${await kill(url, false, share)}`);
    compare('the file after the kill', before, await prints(false));
  }
  console.log(`to PostgreSQL: ${await moveAndTime(url, false)}`);
  compare('PostgreSQL', before, await prints(true));
  for (const share of KILLS) {
    console.log(`back: killed at ${await kill('sqlite', true, share)}`);
    compare('PostgreSQL after the kill', before, await prints(true));
  }
  console.log(`back: ${await moveAndTime('sqlite', true)}`);
  compare('the file', before, await prints(false));
} finally {
  await server.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}

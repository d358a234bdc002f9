/**
 * The disk fills up in the middle of a backup, of writes, of a migration and of a restore: a clear
 * error, nothing lost, and everything works again when there is space. Needs root, who may mount a
 * small disk; otherwise these are skipped.
 */

import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { examineDatabase } from '../../src/store/sqlite/file/copy.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { call, freshFolder } from '../support/app.ts';
import {
  addProviderByCommand,
  cleanUp,
  run,
  type ServerProcess,
  startServe,
} from '../support/process.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { readText } from '../support/tree.ts';

const testIf = test.skipIf(!MAY_MOUNT);

let disk: SmallDisk;
let dataDir: string;
beforeEach(() => {
  if (!MAY_MOUNT) return;
  disk = mountSmallDisk(24) as SmallDisk;
  dataDir = join(disk.folder, 'data');
});
afterEach(() => disk?.unmount());
afterAll(cleanUp);

/** As the program of the first two migrations left it. */
function makeOldDatabase(file: string): void {
  mkdirSync(dataDir, { mode: 0o700 });
  const db = new Database(file, { create: true });
  for (const name of ['0000_tables', '0001_counts']) {
    db.run(readText(`migrations/sqlite/${name}.sql`));
  }
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.run('PRAGMA user_version = 2');
  db.run(`INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
    VALUES ('CODE0001', 'old', 'pro', zeroblob(32), 0)`);
  db.close();
  chmodSync(file, 0o600);
}

function schemaOf(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? -1;
  } finally {
    db.close();
  }
}

const codeOf = (n: number) => `full${String(n).padStart(8, '0')}`;

/** Links with random notes, which do not compress. */
function addLinks(count: number): void {
  const db = new Database(join(dataDir, 'gatepost.db'));
  db.run(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
    SELECT 1, printf('seed%08d', i), 3, 10, hex(randomblob(120)), 0 FROM n`);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

async function addLink(server: ServerProcess, credentials: never, n: number) {
  const query = { install_limit: 2, install_code: codeOf(n), note: 'n'.repeat(200) };
  return (await call(server, '/api/add-install', credentials, query)).json;
}

testIf('in the middle of a backup: an error, and nothing is left of it', async () => {
  await addProviderByCommand(dataDir);
  addLinks(15_000);
  const file = join(disk.folder, 'one.backup');
  const before = readdirSync(disk.folder);
  // Too little for anything; enough to begin the file, whose copy is in memory, and to go on.
  for (const leftMib of [0, 1, 2]) {
    disk.fill(leftMib * 1024 ** 2);
    const { code, stdout, stderr } = await run(['backup', file, '--data', dataDir]);
    expect({ leftMib, code, stdout }).toEqual({ leftMib, code: 1, stdout: '' });
    expect(stderr).toMatch(/^gatepost: no space left on the disk of [^\n]+\n$/);
    disk.clear();
    expect(readdirSync(disk.folder)).toEqual(before);
  }
  expect(await run(['backup', file, '--data', dataDir])).toMatchObject({ code: 0, stderr: '' });
  expect(await run(['restore', file, '--verify'])).toMatchObject({ code: 0 });
});

testIf('in the middle of a restore: an error, and the database is as it was', async () => {
  await addProviderByCommand(dataDir);
  addLinks(10_000);
  const elsewhere = freshFolder();
  const file = join(elsewhere, 'one.backup');
  try {
    expect(await run(['backup', file, '--data', dataDir])).toMatchObject({ code: 0 });
    disk.fill(1024 ** 2);
    const before = readdirSync(dataDir);
    const refused = await run(['restore', file, '--data', dataDir]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^gatepost: no space left on the disk of [^\n]+\n$/);
    expect(readdirSync(dataDir)).toEqual(before);
    expect(examineDatabase(join(dataDir, 'gatepost.db')).rows['install']).toBe(10_000);
    disk.clear();
    expect(await run(['restore', file, '--data', dataDir])).toMatchObject({ code: 0 });
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});

testIf('in the middle of writes: refused ones leave nothing, answered ones stay', async () => {
  const credentials = (await addProviderByCommand(dataDir)) as never;
  const server = await startServe({ dataDir });
  const answered: number[] = [];
  const refused: number[] = [];
  let n = 0;
  async function write(count: number): Promise<void> {
    const numbers = Array.from({ length: count }, () => n++);
    const answers = await Promise.all(
      numbers.map((number) => addLink(server, credentials, number)),
    );
    answers.forEach(({ rc, msg }, i) => {
      if (rc === 1) answered.push(numbers[i] as number);
      else refused.push(numbers[i] as number);
      if (rc !== 1) expect({ rc, msg }).toEqual({ rc: 0, msg: 'Unknown error' });
    });
  }

  await write(50);
  expect(refused).toEqual([]);
  disk.fill(256 * 1024);
  while (refused.length < 200) await write(50);
  // Reads are answered meanwhile, and another read sees what was acknowledged.
  const list = await call(server, '/api/list-install', credentials);
  expect(list.json.data).toHaveLength(answered.length);
  const doctor = await run(['doctor', '--data', dataDir]);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/PROBLEM {3}data directory: the disk of \S+ is full/);

  disk.clear();
  const refusedBefore = refused.length;
  await write(50);
  expect(refused.length).toBe(refusedBefore);
  expect(await server.stop()).toEqual({ code: 0, signal: null });

  const db = new Database(join(dataDir, 'gatepost.db'), { readonly: true });
  const codes = db.query('SELECT install_code FROM install ORDER BY 1').values().flat();
  db.close();
  expect(codes).toEqual(answered.map(codeOf).sort());
});

testIf('in the middle of a migration: an error, the old schema stays, then it works', async () => {
  const file = join(dataDir, 'gatepost.db');
  makeOldDatabase(file);
  addLinks(20_000);
  const old = join(freshFolder(), 'old');
  cpSync(dataDir, old, { recursive: true });

  disk.fill(0);
  const start = ['serve', '--port', '0', '--data', dataDir];
  const unsaved = await run(start);
  expect(unsaved.code).toBe(1);
  expect(unsaved.stderr).toMatch(
    /^gatepost: the database cannot be backed up [^\n]+, or set backup.before_migration = false\n$/,
  );
  const failed = await run(start, { env: { GATEPOST_BACKUP_BEFORE_MIGRATION: 'false' } });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(/\ngatepost: no space left on the disk of [^\n]+\n$/);
  // More and more pages, until there is enough: it failed at points all along the way.
  const refusals: string[] = [];
  let leftPages = 1;
  for (let tried = 0; refusals.length === tried; tried += 1) {
    disk.fill(leftPages * 4096);
    leftPages += Math.ceil(leftPages / 8);
    try {
      const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
      await store.close();
    } catch (error) {
      refusals.push((error as Error).message);
      disk.clear();
      expect(schemaOf(file)).toBe(2);
      expect(examineDatabase(file)).toEqual(examineDatabase(join(old, 'gatepost.db')));
    }
  }
  disk.clear();
  expect(refusals.length).toBeGreaterThan(1);
  expect(refusals.filter((message) => !message.startsWith('no space left'))).toEqual([]);

  const server = await startServe({ dataDir });
  await server.stop();
  expect(examineDatabase(file)).toMatchObject({
    schema: SCHEMA_VERSION,
    rows: { install: 20_000 },
  });
  rmSync(join(old, '..'), { recursive: true, force: true });
});

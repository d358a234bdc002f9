/** A server that migrates its database backs it up before, says so, and can be told not to. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { writeOldDatabase } from '../support/old-database.ts';
import { run, startServe, temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const MIGRATES = / info database_migrates from=14 to=(\d+) backup=(\S+)/;

/** A data directory as 0.10.0 left it. */
function oldData(): string {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  writeOldDatabase(join(dataDir, DATABASE_FILE), 'test/store/data-of-0-10-0.sql');
  return dataDir;
}

test('the backup before a migration has the old schema and can be restored', async () => {
  const dataDir = oldData();
  const server = await startServe({ dataDir });
  const [, to, file = ''] = MIGRATES.exec(server.stderr()) ?? [];
  expect(Number(to)).toBe(SCHEMA_VERSION);
  expect(file).toStartWith(join(dataDir, 'backups', 'gatepost-before-migration-'));
  await server.stop();
  const target = join(temporaryFolder(), 'data');
  const restored = await run(['restore', file, '--data', target]);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  const db = new Database(join(target, DATABASE_FILE), { readonly: true });
  expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: 14 });
  db.close();

  const again = await startServe({ dataDir });
  expect(again.stderr()).not.toContain('database_migrates');
  await again.stop();
  expect(readdirSync(join(dataDir, 'backups'))).toHaveLength(1);
});

test('the last two are kept, and nothing else is deleted', async () => {
  const dataDir = oldData();
  const folder = join(dataDir, 'backups');
  mkdirSync(folder, { mode: 0o700 });
  const older = ['20260101', '20260201'].map(
    (day) => `gatepost-before-migration-${day}T000000Z.backup`,
  );
  const scheduled = 'gatepost-20260101T000000Z.backup';
  for (const name of [...older, scheduled, 'mine.backup']) {
    writeFileSync(join(folder, name), '', { mode: 0o600 });
  }
  const server = await startServe({ dataDir });
  await server.stop();
  const [, , file = ''] = MIGRATES.exec(server.stderr()) ?? [];
  const kept = readdirSync(folder).sort();
  expect(kept).toEqual(
    [scheduled, older[1] as string, file.slice(folder.length + 1), 'mine.backup'].sort(),
  );
});

test('the operator can go without', async () => {
  const dataDir = oldData();
  const env = { GATEPOST_BACKUP_BEFORE_MIGRATION: 'false' };
  const server = await startServe({ dataDir, env });
  expect(MIGRATES.exec(server.stderr())?.[2]).toBe('none');
  await server.stop();
  expect(readdirSync(dataDir)).not.toContain('backups');
});

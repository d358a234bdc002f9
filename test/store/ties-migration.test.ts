/** An installation from before ties: links that the proxy made are known, and nothing is tied. */

import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { APPLICATION_ID } from '../../src/store/sqlite/file/migrate.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';

const BEFORE = MIGRATIONS.findIndex((text) => text.includes('CREATE TABLE `link_tie`'));

let dataDir: string;
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Opens a database of the schema before, with these rows. */
async function opened(rows: string) {
  dataDir = freshFolder();
  const file = join(dataDir, DATABASE_FILE);
  const old = new Database(file, { create: true });
  for (const migration of MIGRATIONS.slice(0, BEFORE)) old.run(migration);
  old.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  old.run(`PRAGMA user_version = ${BEFORE}`);
  old.run(rows);
  old.close();
  chmodSync(file, 0o600);
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 100 });
  await store.close();
  return new Database(file);
}

const PROVIDER = `
  INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
  VALUES (1, 'Provide1', '', 'pro', zeroblob(32), 0), (2, 'Provide2', '', 'pro', zeroblob(32), 0);
  INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms,
    subscription_key_hash, panel_facts)
  VALUES (1, 1, 'LinkCode0001', 5, 10, 100, NULL, NULL)`;

test('a link whose first slot is as old as itself is one that the proxy made', async () => {
  const db = await opened(`${PROVIDER},
    (2, 1, 'LinkCode0002', 5, 10, 100, randomblob(32), NULL),
    (3, 1, 'LinkCode0003', 5, 10, 100, randomblob(32), NULL),
    (4, 1, 'LinkCode0004', 5, 10, 100, randomblob(32), NULL),
    (5, 1, 'LinkCode0005', 5, 10, 100, randomblob(32), '{}');
  INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
    first_seen_at_ms, last_seen_at_ms)
  VALUES (1, 'a', '', '', '', '', '', 0, 0);
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms)
  VALUES (1, 1, '', '', '', '', '', 0);
  INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
    last_seen_at_ms, after_recipient_id)
  VALUES (1, 1, 1, 100, 100, 0), (2, 1, 1, 100, 100, 0), (3, 1, 1, 101, 101, 0),
    (5, 1, 1, 100, 100, 0);
  INSERT INTO slot_end (install_id, provider_id, device_id, registered_at_ms, last_seen_at_ms,
    ended_at_ms, why, actor)
  VALUES (4, 1, 1, 100, 100, 200, 'deleted', 'cli')`);
  const made = db.query('SELECT id FROM install WHERE of_gate = 1 ORDER BY id').values().flat();
  expect(made).toEqual([2, 4]);
  // Nothing is tied there by itself, for no provider.
  expect(db.query('SELECT ties FROM provider').values().flat()).toEqual([0, 0]);
  db.close();
});

test('without a key of a link there is nothing to change: fetches may tie', async () => {
  const db = await opened(PROVIDER);
  expect(db.query('SELECT ties FROM provider').values().flat()).toEqual([1, 1]);
  db.close();
});

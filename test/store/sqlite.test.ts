/** The rules that hold in the SQLite file itself, also for a writer that is not the store. */

import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api';
import * as schema from '../../migrations/schema.ts';
import * as schemaAccount from '../../migrations/schema-account.ts';
import * as schemaDevice from '../../migrations/schema-device.ts';
import * as schemaLink from '../../migrations/schema-link.ts';
import * as schemaOutbox from '../../migrations/schema-outbox.ts';
import * as schemaReminder from '../../migrations/schema-reminder.ts';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { ACT } from '../support/actor.ts';
import { openBeside } from '../support/database.ts';
import { addDoor, addLink, CLOCK, knock, NOW_MS, OTHER_CODE } from './contract/fixture.ts';
import {
  bringTo,
  deliver,
  fillLinks,
  holderOf,
  lease,
  send,
  sendAll,
  to,
} from './contract/message-fixture.ts';
import { openContractStore } from './contract/open.ts';
import { addWebhook, waitingFor } from './contract/webhook.ts';

describe('in the database file, whoever writes to it', () => {
  let opened: Awaited<ReturnType<typeof openContractStore>>;
  let db: Database;
  beforeEach(async () => {
    opened = await openContractStore();
    await addDoor(opened.store);
    for (const hwid of ['a', 'b']) await knock(opened.store, hwid);
    db = openBeside(opened.dataDir);
    db.run(
      `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
        first_seen_at_ms, last_seen_at_ms) VALUES ('c', '', '', '', '', '', 0, 0)`,
    );
  });
  afterEach(async () => {
    db.close();
    await opened.close();
  });

  const SLOT =
    'INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms, after_recipient_id)';

  const count = () =>
    db
      .query('SELECT device_count, (SELECT count(*) FROM install_device) AS rows FROM install')
      .get();

  test('a link is never over-filled', () => {
    expect(() => db.run(`${SLOT} VALUES (1, 3, 1, 0, 0)`)).toThrow('install_never_over_full');
    expect(() => db.run(`${SLOT} SELECT 1, id, 1, 0, 0 FROM device`)).toThrow();
    expect(() => db.run('UPDATE install SET install_limit = 1')).toThrow('install_never_over_full');
    expect(() => db.run('UPDATE install SET install_limit = 101')).toThrow('install_limit_range');
    expect(() => db.run('UPDATE install SET device_count = 3')).toThrow('install_never_over_full');
    expect(count()).toEqual({ device_count: 2, rows: 2 });
  });

  test('slots above the limit need their own bound, which falls with each slot that ends', () => {
    db.run('UPDATE install SET over_max = 3');
    db.run(`${SLOT} VALUES (1, 3, 1, 0, 0)`);
    const bound = () => db.query('SELECT device_count, over_max FROM install').get();
    expect(bound()).toEqual({ device_count: 3, over_max: 3 });
    expect(() => db.run('UPDATE install SET over_max = 2')).toThrow('install_never_over_full');
    expect(() => db.run('UPDATE install SET over_max = 101')).toThrow('install_over_max');
    db.run('DELETE FROM install_device WHERE device_id = 1');
    expect(bound()).toEqual({ device_count: 2, over_max: 2 });
    expect(() => db.run(`${SLOT} VALUES (1, 1, 1, 0, 0)`)).toThrow('install_never_over_full');
  });

  test('a device has one slot on a link', () => {
    db.run('UPDATE install SET install_limit = 3');
    expect(() => db.run(`${SLOT} VALUES (1, 1, 1, 0, 0)`)).toThrow('UNIQUE');
    expect(count()).toEqual({ device_count: 2, rows: 2 });
  });

  test('a slot and a link never move', () => {
    expect(() => db.run('UPDATE install_device SET device_id = 3 WHERE id = 1')).toThrow(
      'a slot never moves to another link or device',
    );
    expect(() => db.run('UPDATE install SET provider_id = provider_id')).toThrow(
      'a link never moves to another provider',
    );
  });

  test('the counts follow the rows, also when a device or a provider goes', () => {
    db.run("DELETE FROM device WHERE hwid = 'a'");
    expect(count()).toEqual({ device_count: 1, rows: 1 });
    db.run('DELETE FROM install_device');
    expect(count()).toEqual({ device_count: 0, rows: 0 });
    expect(db.query('SELECT install_count FROM provider').get()).toEqual({ install_count: 1 });
    db.run('DELETE FROM install');
    expect(db.query('SELECT install_count FROM provider').get()).toEqual({ install_count: 0 });
    db.run('DELETE FROM provider');
    expect(db.query('SELECT count(*) AS count FROM domain').get()).toEqual({ count: 0 });
  });

  test('the steps that take a provider away leave no link, binding or send of it', async () => {
    await addLink(opened.store, 1, { installCode: OTHER_CODE });
    await deliver(opened.store, 1, to('a'));
    await opened.store.closeProvider('Provide1', ACT);
    const tables = ['recipient', 'distribution', 'device_domain', 'domain', 'install_device'];
    const left = () =>
      [...tables, 'install', 'device_provider', 'provider'].filter(
        (table) => db.query(`SELECT * FROM ${table}`).get() !== null,
      );
    let leftBefore = left();
    while ((await opened.store.removeProvider(1)) === 'more') leftBefore = left();
    expect(leftBefore).toEqual(['provider']);
    expect(left()).toEqual([]);
  });

  test('a step counts few long inboxes at a time, also behind empty ones', async () => {
    const { store } = opened;
    await fillLinks(store, 1, { count: 400 });
    for (let n = 0; n < 80; n++) await deliver(store, 1);
    db.run(`UPDATE recipient SET is_waiting = 0 WHERE device_id IN (
      SELECT device_id FROM recipient ORDER BY device_id LIMIT 50 * 80)`);
    const id = await send(store, 1);
    await bringTo(store, id, 40);
    const [first, ...others] = await sendAll(store, lease(id));
    expect(first?.deviceIds.length).toBeLessThan(400);
    expect(others).toHaveLength(1);
  });

  test('how large it is, what room it has, and what the disk has left', async () => {
    const facts = await opened.store.readStorageFacts();
    const size = db.query(
      `SELECT page_count * page_size AS bytes, freelist_count * page_size AS freeBytes
       FROM pragma_page_count, pragma_page_size, pragma_freelist_count`,
    );
    expect(facts).toMatchObject(size.get() as { bytes: number; freeBytes: number });
    expect(facts.logBytes).toBeGreaterThan(0);
    expect(facts.diskFreeBytes).toBeGreaterThan(0);
  });

  test('being asked whether it can be written, it is written', async () => {
    const version = () => db.query('PRAGMA data_version').get();
    const before = version();
    expect(version()).toEqual(before);
    await opened.store.checkWritable();
    expect(version()).not.toEqual(before);
  });

  test('it is looked at once a second while it is watched, and only commits of others count', async () => {
    const { store } = opened;
    // Whoever slept for a test before has nothing to look at any more.
    CLOCK.advance(3_600_000);
    await nextTurn();
    expect(CLOCK.sleeperCount).toBe(0);
    let calls = 0;
    const stop = store.watch((deviceIds) => {
      expect(deviceIds).toBe('all');
      calls += 1;
    });
    const callsAfter = async (ms: number) => {
      CLOCK.advance(ms);
      await nextTurn();
      return calls;
    };
    expect(await callsAfter(1_000)).toBe(0);
    await knock(store, 'a');
    db.query('SELECT * FROM device').all();
    db.run("UPDATE device SET os = '' WHERE hwid = 'nobody'");
    expect(await callsAfter(1_000)).toBe(0);
    db.run("UPDATE device SET os = 'other' WHERE hwid = 'c'");
    expect(await callsAfter(999)).toBe(0);
    expect(await callsAfter(1)).toBe(1);
    expect(await callsAfter(1_000)).toBe(1);
    stop();
    await callsAfter(1_000);
    expect(CLOCK.sleeperCount).toBe(0);
  });

  test('what cannot be looked at may have changed', async () => {
    const beside = await opened.openBeside();
    let calls = 0;
    const stop = beside.watch(() => {
      calls += 1;
    });
    await beside.close();
    for (const seconds of [1, 2]) {
      CLOCK.advance(1_000);
      await nextTurn();
      expect(calls).toBe(seconds);
    }
    stop();
  });

  test('a webhook goes when its queue is empty: to delete both at once takes long', async () => {
    const { store } = opened;
    const id = await addWebhook(store, null);
    await store.addEvent({ providerId: null, kind: 'disk.low', atMs: NOW_MS, data: {} });
    expect(await waitingFor(store, id)).toEqual(['disk.low']);
    db.run(`CREATE TRIGGER webhook_last BEFORE DELETE ON webhook
      WHEN EXISTS (SELECT 1 FROM outbox) BEGIN SELECT RAISE(ABORT, 'it has a queue'); END`);
    expect(await store.removeWebhook(id, null, ACT)).toBe('ok');
  });

  test('an acknowledgement that says nothing new asks nobody for the lock', async () => {
    const { store } = opened;
    const id = await deliver(store, 1, to('a'));
    const device = await holderOf(store, 'a');
    const word = { id, state: 'opened', detail: null } as const;
    expect(await store.acknowledge(device, [word], NOW_MS)).toEqual([word]);
    db.run('BEGIN IMMEDIATE');
    expect(await store.acknowledge(device, [word, { ...word, id: id + 1 }], NOW_MS)).toEqual([]);
    db.run('ROLLBACK');
  });

  test('an acknowledgement keeps its first time and reason', async () => {
    const { store } = opened;
    const id = await deliver(store, 1, to('a'));
    const device = await holderOf(store, 'a');
    const states = ['failed', 'opened', 'executed', 'failed', 'received', 'opened'] as const;
    for (const [i, state] of states.entries()) {
      await store.acknowledge(device, [{ id, state, detail: `reason ${i}` }], NOW_MS + i);
    }
    const row = db.query('SELECT * FROM recipient WHERE device_id = ?').get(device.id);
    expect(row).toMatchObject({
      is_waiting: 0,
      sent_at_ms: NOW_MS,
      received_at_ms: NOW_MS,
      refused_at_ms: NOW_MS,
      opened_at_ms: NOW_MS + 1,
      executed_at_ms: null,
      detail: 'reason 0',
    });
  });

  test('only the documented states are possible', () => {
    expect(() => db.run('UPDATE install SET status = 1')).toThrow('install_status');
    expect(() => db.run('UPDATE domain SET status = 1')).toThrow('domain_status');
    expect(() => db.run("UPDATE provider SET plan = 'gold'")).toThrow('provider_plan');
    expect(() => db.run("UPDATE provider SET key_hash = x'00'")).toThrow('provider_key_hash');
  });

  test('is written ahead', () => {
    expect(db.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION });
    expect(db.query('PRAGMA foreign_key_check').all()).toEqual([]);
    expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });
});

describe('migrations', () => {
  const folder = join(import.meta.dir, '../../migrations/sqlite');
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const read = (path: string) => Bun.file(join(folder, path));

  test('all that are in the folder travel with the program, in order', async () => {
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(MIGRATIONS).toEqual(texts);
    expect(files).toHaveLength(SCHEMA_VERSION);
    const journal = await read('meta/_journal.json').json();
    expect(journal.entries.map(({ tag }: { tag: string }) => `${tag}.sql`)).toEqual(files);
  });

  test('lead to the schema of the program: drizzle-kit has nothing to add', async () => {
    const last = String(files.length - 1).padStart(4, '0');
    const migrated = await read(`meta/${last}_snapshot.json`).json();
    const wanted = await generateSQLiteDrizzleJson({
      ...schema,
      ...schemaDevice,
      ...schemaAccount,
      ...schemaLink,
      ...schemaOutbox,
      ...schemaReminder,
    });
    expect(await generateSQLiteMigration(migrated, wanted)).toEqual([]);
  });
});

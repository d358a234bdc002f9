/** What 0.2.0 proved by time is proved by order afterwards, whatever its clock had done. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import type { Store } from '../../src/core/port/store.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { APPLICATION_ID } from '../../src/store/sqlite/file/migrate.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';
import { loadAll, onLink, register, tokenHash } from './contract/message-fixture.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HASH = 'a'.repeat(64);
/** The migrations that 0.2.0 had. */
const OLD_VERSION = 4;

let dataDir: string;
let old: Database;
let store: Store | null;

beforeEach(() => {
  dataDir = freshFolder();
  old = new Database(join(dataDir, DATABASE_FILE), { create: true });
  for (const migration of MIGRATIONS.slice(0, OLD_VERSION)) old.run(migration);
  old.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  old.run(`PRAGMA user_version = ${OLD_VERSION}`);
  for (const [id, code] of [
    [1, 'Provide1'],
    [2, 'Provide2'],
  ]) {
    old.run(
      `INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
       VALUES (${id}, '${code}', '', 'enterprise', zeroblob(32), 0)`,
    );
    old.run(
      `INSERT INTO domain (id, provider_id, domain_hash, domain_name, status, created_at_ms)
       VALUES (${id}, ${id}, '${HASH}', '', 10, 0)`,
    );
    old.run(
      `INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms)
       VALUES (${id}, ${id}, 'LinkCode000${id}', 5, 10, 0)`,
    );
  }
  store = null;
});
afterEach(async () => {
  old.close();
  await store?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function device(id: number, registeredAtMs: number | null = null): void {
  old
    .query(
      `INSERT INTO device (id, hwid, token_hash, unproven_from_ms, os, os_version, device_name,
         app_version, user_agent, first_seen_at_ms, last_seen_at_ms)
       VALUES (?, ?, ?, ?, 'android', '15', 'Pixel 9', '', '', 0, 7)`,
    )
    .run(id, `d${id}`, registeredAtMs === null ? null : tokenHash(`d${id}`), registeredAtMs);
}

const slot = (deviceId: number, link: number, atMs: number) =>
  old.run('INSERT INTO install_device (install_id, device_id, registered_at_ms) VALUES (?, ?, ?)', [
    link,
    deviceId,
    atMs,
  ]);

const proof = (deviceId: number, provider: number, isByLink: number, fromMs: number) =>
  old.run('INSERT INTO device_proof VALUES (?, ?, ?, ?)', [deviceId, provider, isByLink, fromMs]);

/** A message that waits; returns its distribution's id. */
function message(deviceId: number, provider: number, atMs: number, isUnbound = 0): number {
  const added = old
    .query<{ id: number }, [number, number]>(
      `INSERT INTO distribution (provider_id, notification_type, status, target_hwid, created_at_ms,
         due_at_ms, is_scheduled, expires_at_ms, payload)
       VALUES (?, 20, 10, 'd', ?, 0, 0, 9e15, '{}') RETURNING id`,
    )
    .get(provider, atMs);
  const id = added?.id ?? 0;
  old.run(
    `INSERT INTO recipient (distribution_id, device_id, state, is_unbound, is_waiting, queued_at_ms,
       sent_at_ms) VALUES (?, ?, 2, ?, 1, ?, ?)`,
    [id, deviceId, isUnbound, atMs, atMs],
  );
  return id;
}

async function migrated(): Promise<Store> {
  old.close();
  chmodSync(join(dataDir, DATABASE_FILE), 0o600);
  store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 100 });
  return store;
}

async function inbox(of: Store, deviceId: number, hash = tokenHash(`d${deviceId}`)) {
  const limits = { countMax: 100, bytesMax: 1e6 };
  const found = await of.listInbox({ id: deviceId, tokenHash: hash }, NOW_MS, limits);
  return found.messages.map(({ id }) => id);
}

describe('a token of 0.2.0', () => {
  test('by a link and by a binding opens what it opened', async () => {
    device(1, 100);
    slot(1, 1, 50);
    proof(1, 1, 1, 50);
    old.run('INSERT INTO device_domain VALUES (1, 2, 60)');
    proof(1, 2, 0, 100);
    message(1, 1, 49);
    const own = message(1, 1, 50);
    message(1, 2, 99);
    const bound = message(1, 2, 100);
    expect(await inbox(await migrated(), 1)).toEqual([own, bound]);
  });

  test('with nothing opens what came to it unbound since', async () => {
    device(1, 100);
    message(1, 1, 99, 1);
    const own = message(1, 1, 100, 1);
    const of = await migrated();
    expect(await inbox(of, 1)).toEqual([own]);
    // It still stands alone, and nobody gets its place.
    const another = { hwid: 'd1', shown: { kind: 'nothing', providerCode: null } } as const;
    await expect(register(of, another.hwid, another.shown)).rejects.toThrow('registration_refused');
  });

  test('made while the clock was ahead opens what comes from now on', async () => {
    const aheadMs = NOW_MS * 2;
    device(1, aheadMs);
    slot(1, 1, aheadMs);
    proof(1, 1, 1, aheadMs);
    message(1, 1, NOW_MS);
    const of = await migrated();
    expect(await inbox(of, 1)).toEqual([]);
    const now = new Database(join(dataDir, DATABASE_FILE), { strict: true });
    now.run(
      `INSERT INTO distribution (provider_id, notification_type, status, target_hwid, created_at_ms,
         due_at_ms, reaches_unbound, expires_at_ms, payload)
       VALUES (1, 20, 10, 'd', ${NOW_MS}, 0, 0, 9e15, '{}')`,
    );
    now.run(
      `INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
         sent_at_ms) VALUES (2, 1, 2, 1, 1, ${NOW_MS}, 0)`,
    );
    now.close();
    await nextTurn();
    expect(await inbox(of, 1)).toEqual([2]);
  });

  test('loses nothing that it could read, though the clock went back in between', async () => {
    device(1, 100);
    slot(1, 1, 100);
    proof(1, 1, 1, 100);
    const first = message(1, 1, 150);
    const afterTheStep = message(1, 1, 60);
    const last = message(1, 1, 170);
    expect(await inbox(await migrated(), 1)).toEqual([first, afterTheStep, last]);
  });

  test('by a binding, while the HWID was on a link, gives way to that link', async () => {
    device(1, 100);
    slot(1, 1, 50);
    proof(1, 1, 0, 100);
    const early = message(1, 1, 60);
    const late = message(1, 1, 110);
    const of = await migrated();
    expect(await inbox(of, 1)).toEqual([late]);
    const link = await register(of, 'd1', onLink('LinkCode0001'));
    expect(await inbox(of, 1, link.tokenHash)).toEqual([early, late]);
    expect(await inbox(of, 1)).toEqual([]);
  });
});

test('facts go to the providers that a device belongs to, not to those that merely saw it', async () => {
  device(1);
  slot(1, 1, 5);
  old.run('INSERT INTO device_provider VALUES (1, 2, 9)');
  const found = await (await migrated()).findDevice('d1');
  expect(found?.seenBy.map((at) => [at.providerCode, at.deviceName, at.lastSeenAtMs])).toEqual([
    ['Provide2', '', 9],
    ['Provide1', 'Pixel 9', 7],
  ]);
});

test('of more ties than are kept the active and newest stay', async () => {
  device(1);
  for (let id = 3; id <= 22; id++) {
    const status = id === 3 || id > 20 ? 10 : 5;
    old.run(
      `INSERT INTO domain (id, provider_id, domain_hash, domain_name, status, created_at_ms)
       VALUES (${id}, 1, '${id}', 'n${id}', ${status}, 0)`,
    );
    old.run('INSERT INTO device_domain VALUES (1, ?, ?)', [id, id]);
  }
  const found = await (await migrated()).findDevice('d1');
  const names = found?.domains.map(({ domainName }) => domainName) ?? [];
  expect(names).toHaveLength(16);
  expect(names).toContain('n3');
  expect(names).not.toContain('n4');
});

test('what was being loaded is loaded to the end, and nobody is in the ledger twice', async () => {
  for (const id of [1, 2, 3]) {
    device(id);
    slot(id, 1, 5);
  }
  message(1, 1, 5);
  old.run('DROP TRIGGER distribution_moved');
  old.run(
    `UPDATE distribution SET status = 6, target_os = 'android', target_hwid = '', cursor_source = 1,
       cursor_id = 2, recipient_count = 1, lease_owner = 'dead', lease_until_ms = 0`,
  );
  old.run('UPDATE recipient SET state = 1, is_waiting = 0, sent_at_ms = NULL');
  const of = await migrated();
  const lease = { owner: 'one', nowMs: NOW_MS, leaseMs: 5_000 };
  expect(await of.claimWork(lease)).toMatchObject([{ id: 1, status: 6 }]);
  await loadAll(of, { id: 1, ...lease });
  const detail = await of.findDistribution(1, 10);
  expect(detail?.distribution.recipientCount).toBe(3);
  expect(detail?.missing.map(({ hwid }) => hwid)).toEqual(['d1', 'd2', 'd3']);
});

test('numbers that were given once are not given again', async () => {
  device(1);
  slot(1, 1, 5);
  const gone = message(1, 1, 5);
  old.run('DELETE FROM recipient');
  old.run('DELETE FROM install_device');
  old.run('DELETE FROM device');
  migrated();
  const now = new Database(join(dataDir, DATABASE_FILE));
  const sequences = now.query<{ name: string; seq: number }, []>('SELECT * FROM sqlite_sequence');
  const last = Object.fromEntries(sequences.all().map(({ name, seq }) => [name, seq]));
  expect(last).toMatchObject({ recipient: gone, install_device: 1, device: 1 });
  now.close();
});

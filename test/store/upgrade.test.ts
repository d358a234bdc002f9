/** What a released version left behind opens with this one, and says the same. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { pragmaNumber, SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder, startTestApp } from '../support/app.ts';
import { makeBackup, restoreBackup } from '../support/backup.ts';
import { commandLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';
import { byLink, tryRegister } from '../support/messaging.ts';
import { writeOldDatabase } from '../support/old-database.ts';
import { readText } from '../support/tree.ts';
import { CLOCK, provider } from './contract/fixture.ts';
import { to } from './contract/message-fixture.ts';
import { claimGateways, serve } from './contract/outbox-fixture.ts';

// Each command opens the database anew.

interface Listed {
  /** Answers by path and query. */
  api: Record<string, unknown>;
  /** Answers of `/device/inbox` by token. */
  inboxes: Record<string, unknown>;
  /** What commands printed with `--json`. */
  commands: Record<string, unknown>;
}

const RELEASES = [
  { release: '0-1-0', schema: 3, madeAtMs: Date.UTC(2026, 10, 21, 1) },
  { release: '0-2-0', schema: 4, madeAtMs: Date.UTC(2026, 10, 21, 21) },
  { release: '0-3-0', schema: 6, madeAtMs: Date.UTC(2026, 10, 21, 23, 8) },
  { release: '0-4-0', schema: 8, madeAtMs: Date.UTC(2026, 10, 22, 1, 28) },
  { release: '0-5-0', schema: 9, madeAtMs: Date.UTC(2026, 10, 22, 6, 21) },
  // 0.6.0 had the same schema.
  { release: '0-7-0', schema: 10, madeAtMs: Date.UTC(2026, 10, 22, 17, 52) },
  // What 0.9.0 left, schema 13, was that of 0.7.0, migrated.
  { release: '0-10-0', schema: 14, madeAtMs: Date.UTC(2026, 10, 23, 5) },
];

/** Homes after migration 0014, by HWID: the link, and whether its slot is there. */
const HOMES = [
  { hwid: 'by-link', home: 1, isThere: 1 },
  { hwid: 'first-of-0-10-0', home: 9, isThere: 1 },
  { hwid: 'over-of-0-10-0', home: 9, isThere: 1 },
  // It came to link 7 by an import after link 10, and was there earlier.
  { hwid: 'only-of-0-10-0', home: 7, isThere: 1 },
  // Its links were revoked and removed.
  { hwid: 'gone-of-0-10-0', home: null, isThere: 1 },
];

/** The tables with rows, and how many; what a migration adds may be empty. */
function counts(db: Database): Record<string, number> {
  const names = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all();
  return Object.fromEntries(
    names.map(({ name }) => [
      name,
      db.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).get()?.n ?? 0,
    ]),
  );
}

/** Each provider that knows a device saw it, since what a device says is kept for each. */
function orMore(printed: unknown): unknown {
  return JSON.parse(JSON.stringify(printed), (key, value) =>
    key === 'seen_by'
      ? expect.arrayContaining(value.map((seen: object) => expect.objectContaining(seen)))
      : value,
  );
}

/** A data directory as the release left it. */
function dataOf(release: string): string {
  const dataDir = freshFolder();
  writeOldDatabase(join(dataDir, DATABASE_FILE), `test/store/data-of-${release}.sql`);
  return dataDir;
}

test.each(RELEASES)('a backup of data of $release can be restored', async (given) => {
  const { release, schema, madeAtMs: nowMs } = given;
  const dataDir = dataOf(release);
  const folder = freshFolder();
  const file = join(folder, 'old.backup');
  try {
    const made = { file, passphrase: null, nowMs };
    await makeBackup({ ...made, dataDir, replaces: false });
    const restored = { ...made, dataDir: join(folder, 'data'), isForced: false };
    const { manifest } = await restoreBackup({ ...restored, actor: ACT.actor });
    expect(manifest.schema).toBe(schema);
    const { dataDir: place } = restored;
    const store = await openSqliteStore({ dataDir: place, create: true, commitBatchMax: 1 });
    const { blocks } = await store.readAudit(0, 1_000);
    await store.close();
    const last = blocks.at(-1)?.entries ?? '';
    // 0.1.0 had no audit log that could tell of it.
    expect(last.includes('database.restore')).toBe(schema > 3);
  } finally {
    for (const each of [dataDir, folder]) rmSync(each, { recursive: true, force: true });
  }
});

test.each(RELEASES)('data of $release are brought up and listed as they were', async (given) => {
  const { release, schema, madeAtMs } = given;
  const listed: Listed = JSON.parse(readText(`test/store/data-of-${release}.json`));
  const dataDir = dataOf(release);
  const old = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  expect(pragmaNumber(old, 'user_version')).toBe(schema);
  // Nothing of the audit log was pruned yet, and no notice was given.
  const { audit_anchor: _anchor, notice: _notice, ...before } = counts(old);
  expect(Object.values(before)).not.toContain(0);
  const registered = 'SELECT count(*) AS n FROM device_provider WHERE token_id IS NOT NULL';
  const { device_proof: proofs = old.query<{ n: number }, []>(registered).get()?.n } = before;
  old.close();

  const app = await startTestApp({ dataDir });
  app.clock.set(madeAtMs);
  const cli = commandLine({ dataDir });
  try {
    for (const [path, answer] of Object.entries(listed.api)) {
      const now = expect(await (await fetch(app.url + path)).json(), path);
      // A later program has more figures.
      if (path.startsWith('/api/stats')) now.toMatchObject(answer as object);
      else now.toEqual(answer);
    }
    for (const [words, printed] of Object.entries(listed.commands)) {
      const { code, stdout, stderr } = await cli.run(...words.split(' '), '--json');
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      // A later program may tell more.
      expect({ words, printed: JSON.parse(stdout) }).toMatchObject({
        words,
        printed: orMore(printed),
      });
    }
    // Last, as a device is seen that shows its token.
    for (const [token, answer] of Object.entries(listed.inboxes)) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await (await fetch(`${app.url}/device/inbox`, { headers })).json()).toEqual(answer);
    }
    const now = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
    expect(pragmaNumber(now, 'user_version')).toBe(SCHEMA_VERSION);
    const { device_proof: _, device_provider: sightings, sqlite_sequence: __, ...same } = before;
    expect(counts(now)).toMatchObject(same);
    expect(counts(now)['device_provider']).toBeGreaterThanOrEqual(sightings ?? 0);
    expect(now.query(registered).get()).toEqual({ n: proofs ?? null });
    expect(now.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(now.query('PRAGMA foreign_key_check').all()).toEqual([]);
    now.close();
  } finally {
    cli.close();
    await app.close();
  }
});

test('what an earlier release scheduled is delivered in its time, also to unbound devices', async () => {
  const dataDir = dataOf('0-3-0');
  const listed: Listed = JSON.parse(readText('test/store/data-of-0-3-0.json'));
  const app = await startTestApp({ dataDir });
  /** Ids in each inbox that listed messages then: of the link's, the binding's, the bare device. */
  const inboxes = () =>
    Promise.all(
      Object.keys(listed.inboxes).map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        const reply = await fetch(`${app.url}/device/inbox`, { headers });
        const { data } = (await reply.json()) as { data: { id: number }[] };
        return data.map(({ id }) => id);
      }),
    );
  try {
    const dueAtMs = Date.UTC(2027, 8, 1, 9);
    app.clock.set(dueAtMs - 1);
    await app.deliver();
    expect(await inboxes()).toEqual([[1], [1], []]);
    app.clock.set(dueAtMs);
    await app.deliver();
    // 7 was cancelled and 8 blocked; 2 and 3 were commands of 30 days.
    expect(await inboxes()).toEqual([[1, 4, 6], [1, 4], [5]]);
  } finally {
    await app.close();
  }
});

test('the home link is that of the place, else that of the first slot that is left', async () => {
  const dataDir = dataOf('0-10-0');
  const db = new Database(join(dataDir, DATABASE_FILE));
  db.run(`INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
      last_seen_at_ms, after_recipient_id)
    SELECT 7, device_id, provider_id, 1, last_seen_at_ms, 0 FROM install_device WHERE id = 15`);
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  await store.close();
  const homes = db
    .query(
      `SELECT d.hwid, p.home_install_id AS home, p.home_left_at_ms IS NULL AS isThere
       FROM device_provider p JOIN device d ON d.id = p.device_id
       WHERE d.hwid LIKE '%-of-0-10-0' OR d.hwid = 'by-link'
       ORDER BY d.id`,
    )
    .all();
  db.close();
  rmSync(dataDir, { recursive: true, force: true });
  expect(homes).toEqual(HOMES);
});

test('what migration 0006 makes of each kind', () => {
  const db = new Database(':memory:', { strict: true });
  for (const migration of MIGRATIONS.slice(0, 6)) db.run(migration);
  db.run(`INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
    VALUES ('Example1', 'One', 'pro', zeroblob(32), 0)`);
  const add =
    db.query(`INSERT INTO distribution (provider_id, notification_type, status, target_hwid,
      created_at_ms, due_at_ms, is_scheduled, expires_at_ms, payload)
    VALUES (1, ?, 10, 'd', 5, ?, ?, 99, ?)`);
  const data = '{"action_type":"import-data","input-data":"aGk="}';
  add.run(10, 5, 0, '{"body":"import-data"}');
  add.run(20, 7, 1, data);
  add.run(20, 5, 0, data);
  add.run(20, 7, 1, '{"action_type":"sub-change","change_value":"import-data"}');
  add.run(10, 5, 0, 'null');
  for (const migration of MIGRATIONS.slice(6)) db.run(migration);
  const made = db.query(
    'SELECT due_at_ms <> created_at_ms AS isScheduled, due_at_ms, reaches_unbound FROM distribution',
  );
  expect(made.values()).toEqual([
    [0, 5, 0],
    [1, 7, 1],
    [0, 5, 1],
    [1, 7, 0],
    [0, 5, 0],
  ]);
  db.close();
});

test('a slot of 0.4.0 was last seen when its provider saw the device', () => {
  const db = new Database(':memory:', { strict: true });
  for (const migration of MIGRATIONS.slice(0, 8)) db.run(migration);
  db.run(`INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
    VALUES ('Example1', 'One', 'pro', zeroblob(32), 0)`);
  db.run(`INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
    VALUES (1, 'ExampleLink1', 2, 10, 0)`);
  const add = db.query(`INSERT INTO device (hwid, os, os_version, device_name, app_version,
    user_agent, first_seen_at_ms, last_seen_at_ms) VALUES (?, '', '', '', '', '', 5, 9)`);
  const take = db.query(`INSERT INTO install_device (install_id, device_id, provider_id,
    registered_at_ms, after_recipient_id) VALUES (1, ?, 1, ?, 0)`);
  for (const id of [1, 2]) {
    add.run(`device ${id}`);
    take.run(id, 5);
  }
  // The second one's slot is younger than its last call, as after the clock was put back.
  db.run('UPDATE device_provider SET last_seen_at_ms = 11 - 10 * (device_id - 1)');
  for (const migration of MIGRATIONS.slice(8)) db.run(migration);
  const seen = db.query('SELECT last_seen_at_ms FROM install_device ORDER BY device_id');
  expect(seen.values()).toEqual([[11], [5]]);
  db.close();
});

test('addresses that devices gave to 0.5.0 are pushed to', async () => {
  const dataDir = dataOf('0-5-0');
  const nowMs = Date.UTC(2026, 10, 22, 7);
  CLOCK.set(nowMs);
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1, clock: CLOCK });
  try {
    const { id: providerId } = await provider(store, 'Example1');
    const more = { createdAtMs: nowMs, expiresAtMs: nowMs + 1_000 };
    await serve(store, providerId, {
      ...to('pushed-by-fcm', 'pushed-by-apns', 'second-of-0-5-0', 'by-link'),
      ...more,
    });
    const found = await claimGateways(store, 'one', nowMs);
    const rows = found.map(({ kind, origin, waitingCount }) => [kind, origin, waitingCount]);
    expect(rows.sort()).toEqual([
      ['apns', '', 1],
      ['fcm', '', 1],
      // Its keys are none: that is for the gateway to say.
      ['webpush', 'https://push.example', 1],
    ]);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('places of 0.7.0 take the link of the first slot, if it was there when they were claimed', async () => {
  const dataDir = dataOf('0-7-0');
  const app = await startTestApp({ dataDir });
  app.clock.set(Date.UTC(2026, 10, 22, 18));
  const { store } = app.core;
  try {
    const { id: providerId } = await provider(store, 'Example1');
    const [bound] = await store.listDomains(providerId, { id: 1, beforeId: null, countMax: 1 });
    const hash = bound?.domainHash ?? '';
    const show = async (hwid: string, code: string) =>
      (await tryRegister(app, byLink(hwid, code, hash))).json.msg;
    const db = openBeside(dataDir);
    const claims = db
      .query(
        `SELECT d.hwid, p.claim_install_id, t.last_seen_at_ms = d.last_seen_at_ms
         FROM device_provider p CROSS JOIN device d ON d.id = p.device_id
           CROSS JOIN device_token t ON t.id = p.token_id
         WHERE p.provider_id = ${providerId} ORDER BY d.id`,
      )
      .values();
    db.close();
    expect(claims).toEqual([
      ['by-link', 1, 1],
      ['by-binding', null, 1],
      ['pushed-by-fcm', 5, 1],
      ['pushed-by-apns', 5, 1],
      ['second-of-0-5-0', 6, 1],
      ['stays-of-0-7-0', 7, 1],
      // Its slot on the link of the claim ended before.
      ['gone-of-0-7-0', null, 1],
    ]);
    const id = { installCode: 'ExampleLink7', installId: null };
    await store.freeSlot(providerId, id, 'stays-of-0-7-0', ACT);
    expect(await show('stays-of-0-7-0', 'ExampleLink8')).toBe('Device is registered');
    expect(await show('stays-of-0-7-0', 'ExampleLink7')).toBe('Ok');
    // As before: the link of the first slot that is left.
    expect(await show('gone-of-0-7-0', 'ExampleLink7')).toBe('Device is registered');
    expect(await show('gone-of-0-7-0', 'ExampleLink8')).toBe('Ok');
    expect(await show('gone-of-0-7-0', 'ExampleLink7')).toBe('Device is registered');
  } finally {
    await app.close();
  }
});

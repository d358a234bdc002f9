/** Restoring: what is refused, what is kept, and what is there afterwards. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { send } from '../store/contract/message-fixture.ts';
import { addWebhook } from '../store/contract/webhook.ts';
import { ACT } from '../support/actor.ts';
import { auditEntries } from '../support/audit.ts';
import {
  addProviders,
  type Backed,
  backedUp,
  fingerprint,
  forged,
  makeBackup,
  NOW_MS,
  providerCount,
  restoreBackup,
  verifyBackup,
} from '../support/backup.ts';

/** Devices that no provider holds were counted: the only row besides those of people. */
const SEEN_STRANGERS = 'UPDATE appliance SET stranger_count = 5';

let backed: Backed;
let database: string;
beforeEach(async () => {
  backed = await backedUp();
  database = join(backed.dataDir, 'gatepost.db');
});
afterEach(() => rmSync(backed.folder, { recursive: true, force: true }));

const restore = (more: { isForced?: boolean; dataDir?: string; file?: string } = {}) =>
  restoreBackup({
    dataDir: backed.dataDir,
    file: backed.file,
    passphrase: null,
    isForced: false,
    actor: ACT.actor,
    nowMs: NOW_MS,
    ...more,
  });

/** The sentence of a refusal; the data must be as it was. */
async function refusal(attempt: () => Promise<unknown>): Promise<string> {
  const before = fingerprint(backed.folder);
  const error = await attempt().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OperatorError);
  const { [join('data', 'gatepost.lock')]: _, ...after } = fingerprint(backed.folder);
  const { [join('data', 'gatepost.lock')]: __, ...had } = before;
  expect(after).toEqual(had);
  return (error as OperatorError).message;
}

test('events and messages get ids that none had: those who get them drop repeats', async () => {
  const event = { providerId: null, kind: 'disk.low', atMs: NOW_MS, data: {} } as const;
  const nextIds = async () => {
    const { dataDir } = backed;
    const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 });
    try {
      const webhookId = await addWebhook(store, null);
      await store.addEvent(event);
      const [delivery] = await store.listDeliveries(webhookId, null, null, 1);
      const [owner] = await store.listProviders();
      return [delivery?.eventId ?? 0, await send(store, owner?.id ?? 0)] as const;
    } finally {
      await store.close();
    }
  };
  const before = await nextIds();
  await restore({ isForced: true });
  const after = await nextIds();
  expect(after[0]).toBeGreaterThan(before[0]);
  expect(after[1]).toBeGreaterThan(before[1]);
});

test('the audit log has an entry, and its chain holds; a repeat loses nothing', async () => {
  for (let round = 0; round < 2; round++) {
    await restore();
    const core = {
      store: await openSqliteStore({ dataDir: backed.dataDir, create: false, commitBatchMax: 1 }),
    };
    try {
      const entries = await auditEntries(core);
      expect(entries).toHaveLength(3);
      expect(entries[2]).toMatchObject({
        at: '2026-11-21T03:30:00.000Z',
        name: ACT.actor.name,
        action: 'database.restore',
        object: { moment: '2026-11-21T03:30:00.000Z' },
      });
    } finally {
      await core.store.close();
    }
  }
});

test('neither a backup nor a restore touches data that others may read', async () => {
  const { dataDir, folder } = backed;
  chmodSync(dataDir, 0o755);
  const make = { dataDir, passphrase: null, replaces: false, nowMs: NOW_MS };
  const file = join(folder, 'two.backup');
  for (const attempt of [() => restore({ isForced: true }), () => makeBackup({ ...make, file })]) {
    expect(await refusal(attempt)).toContain(`open to all users: run 'chmod 700 ${dataDir}'`);
  }
});

test('what is no file is neither replaced, waited for nor read', async () => {
  const { dataDir, folder } = backed;
  const pipe = join(folder, 'pipe');
  Bun.spawnSync(['mkfifo', pipe]);
  const make = { dataDir, passphrase: null, nowMs: NOW_MS };
  for (const file of [pipe, folder, '/dev/null']) {
    for (const replaces of [false, true]) {
      expect(await refusal(() => makeBackup({ ...make, file, replaces }))).toContain(
        'not a regular file',
      );
    }
    expect(await refusal(() => restore({ file }))).toContain('not a regular file');
  }
  symlinkSync(dataDir, join(folder, 'link'));
  const own = join(folder, 'link', 'gatepost.db-wal');
  const sentence = await refusal(() => makeBackup({ ...make, file: own, replaces: false }));
  expect(sentence).toContain('that Gatepost uses');
});

test('a name that no disk takes is a sentence', async () => {
  const { dataDir, folder } = backed;
  const order = { dataDir, passphrase: null, replaces: false, nowMs: NOW_MS };
  for (const name of ['n'.repeat(300), join('n'.repeat(300), 'one.backup')]) {
    const sentence = await refusal(() => makeBackup({ ...order, file: join(folder, name) }));
    expect(sentence).toMatch(/cannot write in .* \(ENAMETOOLONG/);
  }
});

test('a database that holds nothing more is replaced, and kept', async () => {
  const { manifest, replacedFile } = await restore();
  expect(manifest.rows['provider']).toBe(2);
  expect(replacedFile).toBe(join(backed.dataDir, 'gatepost-replaced-20261121T033000Z.db'));
  expect(providerCount(replacedFile ?? '')).toBe(2);
  expect(providerCount(database)).toBe(2);
});

test('into a directory that is not there yet, as on another machine', async () => {
  const dataDir = join(backed.folder, 'moved');
  expect(await restore({ dataDir })).toMatchObject({ replacedFile: null });
  expect(readdirSync(dataDir).sort()).toEqual(['gatepost.db', 'gatepost.lock']);
  expect(providerCount(join(dataDir, 'gatepost.db'))).toBe(2);
});

test.each(['the same', 'a newer'])('an untouched installation of %s version', async (version) => {
  const file = await forged(backed, { change: (db) => db.run(SEEN_STRANGERS) });
  const dataDir = join(backed.folder, 'new');
  const options = { dataDir, create: true, commitBatchMax: 1 };
  await (await openSqliteStore(options)).close();
  const untouched = new Database(join(dataDir, 'gatepost.db'));
  if (version === 'a newer') untouched.run('PRAGMA user_version = 999');
  untouched.close();
  await restore({ dataDir, file });
  expect(providerCount(join(dataDir, 'gatepost.db'))).toBe(2);
  await addProviders(dataDir, 1);
  await expect(restore({ dataDir, file })).rejects.toThrow('since: 1 of audit, 1 of provider;');
});

test('the outcome of the backup itself is not in the way', async () => {
  const db = new Database(database);
  db.run(`INSERT INTO upkeep (task, schedule, scheduled_at_ms, is_failing, failure_count)
    VALUES ('backup', '03:30', 1, 0, 0)`);
  db.close();
  expect((await restore()).manifest.rows['provider']).toBe(2);
});

test('rows that came since are in the way, unless it is forced', async () => {
  await addProviders(backed.dataDir, 3);
  expect(await refusal(() => restore())).toContain('since: 3 of audit, 3 of provider; --force');
  const { replacedFile } = await restore({ isForced: true });
  expect(providerCount(replacedFile ?? '')).toBe(5);
  expect(providerCount(database)).toBe(2);
  // The replaced database is still a valid database.
  rmSync(database);
  const store = await openSqliteStore({ dataDir: backed.dataDir, create: true, commitBatchMax: 1 });
  await store.close();
});

test.each([
  ['changed', "UPDATE provider SET name = 'another' WHERE id = 1"],
  ['deleted', 'DELETE FROM provider WHERE id = 2'],
])('a row that was %s since is in the way', async (_, change) => {
  const db = new Database(database);
  db.run(change);
  db.close();
  expect(await refusal(() => restore())).toContain('since: 1 of provider');
});

test('what is still in the log counts as well', async () => {
  const db = new Database(database);
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA wal_autocheckpoint = 0');
  db.run("UPDATE provider SET name = 'another'");
  // As after a kill: the log stays beside the database.
  const copy = join(backed.folder, 'killed');
  Bun.spawnSync(['cp', '-r', backed.dataDir, copy]);
  db.close();
  expect(existsSync(join(copy, 'gatepost.db-wal'))).toBe(true);
  await expect(restore({ dataDir: copy })).rejects.toThrow('2 of provider');
  const { replacedFile } = await restore({ dataDir: copy, isForced: true });
  expect(readdirSync(copy).filter((name) => name.includes('-wal'))).toEqual([]);
  const old = new Database(replacedFile ?? '', { readonly: true });
  expect(old.query('SELECT DISTINCT name FROM provider').values()).toEqual([['another']]);
  old.close();
});

test('a database in use is never replaced, forced or not', async () => {
  const { dataDir } = backed;
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 });
  try {
    for (const isForced of [false, true]) {
      await expect(restore({ isForced })).rejects.toThrow('is in use');
    }
  } finally {
    await store.close();
  }
  await restore();
});

test('nor one that another program has open', async () => {
  const db = new Database(database);
  db.run('PRAGMA journal_mode = WAL');
  db.query('SELECT count(*) FROM provider').get();
  await expect(restore({ isForced: true })).rejects.toThrow('is in use');
  db.close();
  await restore();
});

test('a damaged database is replaced only with --force, and kept as it is', async () => {
  truncateSync(database, 9_000);
  const before = fingerprint(backed.dataDir)['gatepost.db'];
  expect(await refusal(() => restore())).toContain('--force');
  const { replacedFile } = await restore({ isForced: true });
  expect(fingerprint(backed.dataDir)[replacedFile?.split('/').at(-1) ?? '']).toBe(before ?? '');
  expect(providerCount(database)).toBe(2);
});

test('one whose log does not fit it is kept with the log', async () => {
  const db = new Database(database);
  db.run('PRAGMA journal_mode = WAL');
  db.run("UPDATE provider SET name = 'another'");
  const dataDir = join(backed.folder, 'torn');
  Bun.spawnSync(['cp', '-r', backed.dataDir, dataDir]);
  db.close();
  const torn = join(dataDir, 'gatepost.db');
  // So much is missing that SQLite does not carry the log into it.
  truncateSync(torn, 9_000);
  const log = fingerprint(dataDir)['gatepost.db-wal'];
  const { replacedFile } = await restore({ dataDir, isForced: true });
  expect(fingerprint(dataDir)[`${basename(replacedFile ?? '')}-wal`]).toBe(log ?? '');
  expect(providerCount(torn)).toBe(2);
});

test('a database of another program is in the way, unless it has no table', async () => {
  truncateSync(database);
  const db = new Database(database);
  db.run('CREATE TABLE theirs (id INTEGER)');
  expect(db.query('PRAGMA application_id').values()).toEqual([[0]]);
  db.close();
  expect(await refusal(() => restore())).toContain('and it is a database of another program;');
  const empty = new Database(database);
  empty.run('DROP TABLE theirs');
  empty.close();
  await restore();
  expect(providerCount(database)).toBe(2);
});

test('the rows of a table that lost its key count as well', async () => {
  const db = new Database(database);
  db.run('CREATE TABLE kept AS SELECT * FROM distribution_transition');
  db.run('DROP TABLE distribution_transition');
  db.run('CREATE TABLE distribution_transition AS SELECT * FROM kept');
  db.run('DROP TABLE kept');
  db.run('INSERT INTO distribution_transition VALUES (998, 999)');
  db.close();
  expect(await refusal(() => restore())).toContain('since: 1 of distribution_transition;');
});

test('something that is no database at all is kept too, with what lies beside it', async () => {
  writeFileSync(database, 'not a database, but a text');
  writeFileSync(`${database}-wal`, 'nor this', { mode: 0o600 });
  expect(await refusal(() => restore())).toContain('--force');
  const { replacedFile } = await restore({ isForced: true });
  expect(existsSync(replacedFile ?? '')).toBe(true);
  expect(existsSync(`${replacedFile}-wal`)).toBe(true);
  expect(existsSync(`${database}-wal`)).toBe(false);
  expect(providerCount(database)).toBe(2);
});

test('a newer schema there is in the way', async () => {
  const db = new Database(database);
  db.run('PRAGMA user_version = 999');
  db.close();
  expect(await refusal(() => restore())).toContain('schema 999');
});

test('a backup of a newer schema cannot be used, forced or not', async () => {
  const file = await forged(backed, { more: { schema: 999, gatepost: '7.1.0' } });
  expect(await refusal(() => restore({ file, isForced: true }))).toContain(
    'gatepost 7.1.0 made it',
  );
});

test('a backup whose database is not the one that was counted cannot be used', async () => {
  const fewer = await forged(backed, { more: { rows: { provider: 1 } } });
  expect(await refusal(() => restore({ file: fewer, isForced: true }))).toContain('cannot be used');
  const other = await forged(backed, { change: (db) => db.run('PRAGMA user_version = 2') });
  expect(await refusal(() => restore({ file: other }))).toContain('which is not of schema 2');
  const newer = await forged(backed, { change: (db) => db.run('PRAGMA user_version = 999') });
  expect(await refusal(() => restore({ file: newer }))).toContain('has schema 999');
});

test('a log that is left without its database is not applied to the new one', async () => {
  const db = new Database(database);
  db.run('PRAGMA journal_mode = WAL');
  db.run("UPDATE provider SET name = 'from the old log'");
  const dataDir = join(backed.folder, 'orphaned');
  Bun.spawnSync(['cp', '-r', backed.dataDir, dataDir]);
  db.close();
  rmSync(join(dataDir, 'gatepost.db'));
  await restore({ dataDir });
  const restored = new Database(join(dataDir, 'gatepost.db'));
  const names = restored.query('SELECT DISTINCT name FROM provider').values().flat();
  expect(names).not.toContain('from the old log');
  restored.close();
});

test('verifying says what is in a backup and leaves nothing', async () => {
  const before = fingerprint(backed.folder);
  const manifest = await verifyBackup({
    dataDir: backed.dataDir,
    file: backed.file,
    passphrase: null,
  });
  expect(manifest).toMatchObject({ format: 1, created_at_ms: NOW_MS, rows: { provider: 2 } });
  expect(fingerprint(backed.folder)).toEqual(before);
});

test('an existing file is replaced only with --force and if it is a backup', async () => {
  const { dataDir, folder, file } = backed;
  const order = { dataDir, passphrase: null, nowMs: NOW_MS + 1 };
  const note = join(folder, 'note.txt');
  writeFileSync(note, 'keep me');
  const make = (target: string, replaces: boolean) => () =>
    makeBackup({ ...order, file: target, replaces });
  expect(await refusal(make(file, false))).toContain('exists');
  expect(await refusal(make(note, true))).toContain('not a Gatepost backup');
  expect(await refusal(make(database, true))).toContain('that Gatepost uses');
  expect(await refusal(make(join(folder, 'none', 'x'), false))).toContain('does not exist');
  await make(file, true)();
  expect(
    (await verifyBackup({ dataDir: backed.dataDir, file, passphrase: null })).created_at_ms,
  ).toBe(NOW_MS + 1);
});

test('of a damaged database there is no backup, and a sentence that says so', async () => {
  const { dataDir, folder } = backed;
  const bytes = readFileSync(database);
  writeFileSync(database, bytes.fill(0xff, 4_096, 20 * 4_096));
  const order = { dataDir, passphrase: null, replaces: false, nowMs: NOW_MS };
  const make = () => makeBackup({ ...order, file: join(folder, 'two.backup') });
  expect(await refusal(make)).toContain('is damaged');
});

test('nor of one whose damage only the copy comes upon', async () => {
  const { dataDir, folder } = backed;
  const db = new Database(database, { readonly: true });
  const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'provider'";
  const page = db.query<{ rootpage: number }, []>(sql).get()?.rootpage ?? 0;
  db.close();
  writeFileSync(database, readFileSync(database).fill(0xff, (page - 1) * 4_096, page * 4_096));
  const order = { dataDir, passphrase: null, replaces: false, nowMs: NOW_MS };
  const make = () => makeBackup({ ...order, file: join(folder, 'two.backup') });
  expect(await refusal(make)).toMatch(/is damaged .* and cannot be copied: see 'gatepost doctor'/);
});

test('one that is interrupted leaves nothing', async () => {
  const file = join(backed.folder, 'two.backup');
  const { dataDir } = backed;
  const order = { dataDir, file, passphrase: null, replaces: false, nowMs: NOW_MS };
  const signal = AbortSignal.abort();
  expect(await refusal(() => makeBackup({ ...order, signal }))).toBe('the backup was interrupted');
});

test('a backup of an encrypted kind says what is wrong with the passphrase', async () => {
  const { folder, file } = await backedUp('right');
  try {
    await expect(verifyBackup({ dataDir: backed.dataDir, file, passphrase: null })).rejects.toThrow(
      'is encrypted',
    );
    await expect(
      verifyBackup({ dataDir: backed.dataDir, file, passphrase: 'wrong' }),
    ).rejects.toThrow('the passphrase is wrong');
    expect(
      (await verifyBackup({ dataDir: backed.dataDir, file, passphrase: 'right' })).rows['provider'],
    ).toBe(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

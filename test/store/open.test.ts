/** Opening: what is wrong is one clear sentence, and nothing is touched. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { WriteFailed } from '../../src/core/port/store.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { DATABASE_FILE, LOCK_FILE, openDatabase } from '../../src/store/sqlite/file/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';
import { addProvider } from './contract/fixture.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = freshFolder();
  file = join(folder, DATABASE_FILE);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (dataDir: string, create = true) =>
  openSqliteStore({ dataDir, create, commitBatchMax: 1 });

/** The one sentence with which opening is refused; it must leave the folder as it was. */
async function refusal(dataDir: string, create = true): Promise<string> {
  const before = contents();
  let refused: unknown = 'it was opened';
  try {
    await open(dataDir, create);
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(OperatorError);
  expect(contents()).toEqual(before);
  const { message } = refused as OperatorError;
  expect(message).not.toContain('\n');
  return message.replaceAll(folder, 'DIR');
}

/** All files with their bytes; SQLite's own files beside a database come and go with readers. */
function contents(): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isFile() ? readFileSync(path).toString('base64') : 'directory'];
    }),
  );
}

/** A good database with a provider in it, closed. */
async function makeDatabase(change: (db: Database) => void = () => {}): Promise<void> {
  const store = await open(folder);
  await addProvider(store, 'Provide1');
  await store.close();
  const db = new Database(file, { strict: true });
  change(db);
  db.close();
}

test('what it makes is its owner\u2019s alone, whatever the umask says', async () => {
  const before = process.umask(0o022);
  try {
    const store = await open(folder);
    const made = readdirSync(folder).toSorted();
    expect(made).toEqual([...['', '-shm', '-wal'].map((end) => DATABASE_FILE + end), LOCK_FILE]);
    const modes = made.map((name) => statSync(join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
    await store.close();
  } finally {
    process.umask(before);
  }
});

test('what was answered survives a loss of power, and SQLite never sleeps on the event loop', () => {
  const { db, release } = openDatabase(folder, true);
  const pragma = (name: string) => Object.values(db.query(`PRAGMA ${name}`).get() as object)[0];
  const FULL = 2;
  const MEMORY = 2;
  expect(pragma('journal_mode')).toBe('wal');
  expect(pragma('synchronous')).toBe(FULL);
  expect(pragma('foreign_keys')).toBe(1);
  // Also the name of PRAGMA busy_timeout's column: SQLite would wait by sleeping.
  expect(pragma('busy_timeout')).toBe(0);
  // Savepoints are undone from memory, not from a file.
  expect(pragma('temp_store')).toBe(MEMORY);
  db.close();
  release();
});

test('while another process has the lock, everybody else is served', async () => {
  const store = await open(folder);
  await addProvider(store, 'Provide1');
  const other = new Database(file, { strict: true });
  other.run('BEGIN IMMEDIATE');
  let isDone = false;
  const write = store.checkWritable().finally(() => {
    isDone = true;
  });
  for (let turns = 0; turns < 200; turns++) {
    expect((await store.findProvider('Provide1'))?.code).toBe('Provide1');
    await nextTurn();
  }
  expect(isDone).toBe(false);
  other.run('COMMIT');
  expect(await write).toBe('ok');
  other.close();
  await store.close();
});

test('a stop waits for nobody else: what could not be locked is refused, and the file closed', async () => {
  const store = await open(folder);
  const other = new Database(file, { strict: true });
  other.run('BEGIN IMMEDIATE');
  const write = store.checkWritable().catch((fault: unknown) => fault);
  await store.close();
  expect(await write).toBeInstanceOf(WriteFailed);
  other.run('COMMIT');
  other.close();
});

describe('a database that is not ours to use', () => {
  test('newer than the program', async () => {
    const start = `DIR/gatepost.db has schema ${SCHEMA_VERSION + 1}, this program knows up to ${SCHEMA_VERSION}`;
    await makeDatabase((db) => {
      db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
      db.run("UPDATE appliance SET program = '7.1.0'");
    });
    const sentence = `${start}: gatepost 7.1.0 made it: use that version or a newer one; nothing was changed`;
    expect(await refusal(folder)).toBe(sentence);
    expect(await refusal(folder, false)).toBe(sentence);
    // As programs before 0.20.0 left it.
    const db = new Database(file);
    db.run('ALTER TABLE appliance DROP COLUMN program');
    db.close();
    expect(await refusal(folder)).toBe(`${start}: use a newer gatepost; nothing was changed`);
  });

  test('made newer between the look at it and the lock: it is not marked as older', async () => {
    await makeDatabase((db) => db.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
    const db = new Database(file, { strict: true });
    expect(() => migrate(db)).toThrow(OperatorError);
    expect(db.inTransaction).toBe(false);
    expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION + 1 });
    db.close();
  });

  test('of another program', async () => {
    const db = new Database(file, { create: true });
    db.run('CREATE TABLE other (n)');
    db.close();
    const sentence = 'DIR/gatepost.db is a database of another program; nothing was changed';
    expect(await refusal(folder)).toBe(sentence);
    expect(await refusal(folder, false)).toBe(sentence);
  });

  test('of another program, with a schema number like ours', async () => {
    const db = new Database(file, { create: true });
    db.run('CREATE TABLE other (n)');
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.close();
    expect(await refusal(folder)).toContain('is a database of another program');
  });

  test('older, without leave to migrate it', async () => {
    const db = new Database(file, { create: true });
    db.run('CREATE TABLE device (n)');
    db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.run('PRAGMA user_version = 1');
    db.close();
    expect(await refusal(folder, false)).toBe(
      `DIR/gatepost.db has schema 1, this program needs ${SCHEMA_VERSION}: ` +
        "restart 'gatepost serve' with this version first",
    );
  });
});

test('what fails for another reason is not told as damage', async () => {
  const db = new Database(file, { create: true });
  db.run('CREATE TABLE other (n)');
  db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.run('PRAGMA user_version = 1');
  db.close();
  await expect(open(folder)).rejects.toThrow(`cannot open ${file}: no such table: `);
});

describe('a damaged database', () => {
  const good = '; nothing was changed: put a copy of a good one in its place';

  test.each([
    ['text', 'this is no database at all'],
    ['a few bytes', '\0'],
    ['zeros', '\0'.repeat(8192)],
    ['what begins almost like one', `SQLite format 2\0${'\0'.repeat(8192)}`],
  ])('%s', async (_, bytes) => {
    writeFileSync(file, bytes);
    expect(await refusal(folder)).toBe(`DIR/gatepost.db is damaged (not a SQLite database)${good}`);
    expect(await refusal(folder, false)).toContain('is damaged');
  });

  test.each([16, 100, 1000, 4096, 20_000])('cut after %d bytes', async (length) => {
    await makeDatabase();
    truncateSync(file, length);
    expect(await refusal(folder)).toMatch(
      /^DIR\/gatepost\.db is damaged \(.+\); nothing was changed: put a copy/,
    );
  });

  test('a good beginning and garbage behind it', async () => {
    await makeDatabase();
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 100, 4096);
    writeFileSync(file, bytes);
    expect(await refusal(folder)).toContain('is damaged');
  });
});

describe('a place that cannot be used', () => {
  test('no directory above the one to be made', async () => {
    const place = join(folder, 'missing', 'data');
    expect(await refusal(place)).toBe(
      'cannot create the data directory DIR/missing/data: DIR/missing does not exist',
    );
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });

  test('no directory, and no leave to make one', async () => {
    const place = join(folder, 'data');
    expect(await refusal(place, false)).toBe('the data directory DIR/data does not exist');
  });

  test('no database, and no leave to make one', async () => {
    expect(await refusal(folder, false)).toBe(
      "there is no Gatepost database in DIR: start 'gatepost serve' or add a provider first",
    );
  });

  test('a file where the directory should be', async () => {
    writeFileSync(join(folder, 'data'), 'text');
    expect(await refusal(join(folder, 'data'))).toBe(
      'the data directory DIR/data is not a directory',
    );
  });

  test('a file where the directory above should be', async () => {
    writeFileSync(join(folder, 'file'), 'text');
    expect(await refusal(join(folder, 'file', 'data'))).toContain('DIR/file/data');
  });

  test('a directory where the file should be', async () => {
    mkdirSync(file);
    expect(await refusal(folder)).toContain('DIR/gatepost.db');
  });

  // To root, everything is writable.
  test.skipIf(process.getuid?.() === 0)('a directory that may not be written', async () => {
    chmodSync(folder, 0o500);
    try {
      expect(await refusal(folder)).toContain('the data directory DIR is not writable');
    } finally {
      chmodSync(folder, 0o700);
    }
  });
});

describe('a place that is good', () => {
  test('a directory is made, for its owner alone', async () => {
    const place = join(folder, 'data');
    const store = await open(place);
    await store.close();
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(readdirSync(place)).toEqual([DATABASE_FILE, LOCK_FILE]);
  });

  test('what is there is there again', async () => {
    await makeDatabase();
    for (const create of [true, false]) {
      const store = await open(folder, create);
      expect((await store.findProvider('Provide1'))?.code).toBe('Provide1');
      await store.close();
    }
  });

  test('an empty file and an empty database are beginnings, not damage', async () => {
    writeFileSync(file, '');
    const blank = await open(folder);
    await blank.close();
    rmSync(file);
    const db = new Database(file, { create: true });
    db.run('PRAGMA journal_mode = WAL');
    db.close();
    const store = await open(folder);
    expect(await store.listProviders()).toEqual([]);
    await store.close();
  });

  test('two in one process at once', async () => {
    const stores = await Promise.all([open(folder), open(folder), open(folder, false)]);
    for (const store of stores) expect(await store.listProviders()).toEqual([]);
    for (const store of stores) await store.close();
  });

  test('several processes at once, none of which finds a database', async () => {
    const script = join(import.meta.dir, 'open-once.fixture.ts');
    const startMs = performance.timeOrigin + performance.now() + 300;
    const processes = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, script, folder, String(startMs)], {
        stdout: 'pipe',
        stderr: 'inherit',
      }),
    );
    const said = await Promise.all(processes.map(({ stdout }) => new Response(stdout).text()));
    await Promise.all(processes.map(({ exited }) => exited));
    expect(said).toEqual(Array(4).fill('opened\n'));
    const db = new Database(file, { readonly: true });
    expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION });
    db.close();
  });
});

/** Malicious backups: right checksums, and contents that no Gatepost writes. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, zstdDecompressSync } from 'node:zlib';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { type Manifest, readContainer, writeContainer } from '../../src/backup/container.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/store/sqlite/file/migrate.ts';
import { ACT } from '../support/actor.ts';
import {
  type Backed,
  backedUp,
  fingerprint,
  forged,
  makeBackup,
  NOW_MS,
  restoreBackup,
  verifyBackup,
} from '../support/backup.ts';
import { openBeside } from '../support/database.ts';
import { IS_LONG } from '../support/scale.ts';

/** Of the schemas that were released one of so many is tried, the newest in any case. */
const SCHEMA_STEP = IS_LONG ? 1 : 5;

let backed: Backed;
beforeEach(async () => {
  backed = await backedUp();
});
afterEach(() => rmSync(backed.folder, { recursive: true, force: true }));

const NO_PASSPHRASE = { passphrase: null };

/** Both ways of reading it say so, and nothing changes. */
async function expectRefusal(
  file: string,
  sentence: string,
  passphrase: string | null = null,
): Promise<void> {
  const { dataDir, folder } = backed;
  const before = fingerprint(folder);
  const order = { dataDir, file, passphrase, isForced: true, nowMs: NOW_MS, actor: ACT.actor };
  for (const attempt of [
    () => verifyBackup({ dataDir, file, passphrase }),
    () => restoreBackup(order),
  ]) {
    const fault: unknown = await attempt().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(fault).toBeInstanceOf(OperatorError);
    expect((fault as OperatorError).message).toContain(sentence);
  }
  expect(fingerprint(folder)).toEqual(before);
}

const OF_NONE = `which is not of schema ${SCHEMA_VERSION}`;
const latin = (text: string) => Buffer.from(text, 'latin1');
/** Writes into a schema what SQLite would refuse: replaces bytes by as many others. */
const instead = (from: string, to: string) => (bytes: Buffer) =>
  latin(bytes.toString('latin1').replaceAll(from, to));

describe('a schema of its own', () => {
  test.each([
    [
      'a trigger that waits for the next provider',
      "CREATE TRIGGER own AFTER INSERT ON provider BEGIN UPDATE provider SET plan = 'enterprise'; END",
      'trigger "own"',
    ],
    ['a view', 'CREATE VIEW own AS SELECT * FROM provider', 'view "own"'],
    ['a view in the place of a table', 'ALTER TABLE domain RENAME TO hidden', 'table "'],
    ['a table', 'CREATE TABLE own (a)', 'table "own"'],
    ['a virtual table', 'CREATE VIRTUAL TABLE own USING fts5(a)', 'table "own'],
    ['an index over an expression', 'CREATE INDEX own ON provider (hex(name))', 'index "own"'],
    ['a table called like a replicator’s', 'CREATE TABLE _litestream_seq (a)', 'table "_litest'],
    [
      'a trigger of ours that is missing',
      'DROP TRIGGER install_added',
      'no trigger "install_added"',
    ],
    [
      'a trigger of ours that does something else',
      `DROP TRIGGER install_added; CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
        UPDATE provider SET install_count = 0 WHERE id = NEW.provider_id; END`,
      'trigger "install_added"',
    ],
  ])('%s is refused', async (_, sql, named) => {
    const file = await forged(backed, { change: (db) => db.run(sql) });
    await expectRefusal(file, `cannot be used: the database has ${named}`);
    await expectRefusal(file, OF_NONE);
  });

  test.each([
    [
      'a check that lets more in',
      'device_count" >= 0 AND (',
      'device_count" >= 0 OR  (',
      'table "install"',
    ],
    ['a trigger under a name of SQLite’s', 'ownownownown', 'sqlite_stat1', 'trigger "sqlite_stat1'],
  ])('%s is refused', async (_, from, to, named) => {
    const change = (db: Database) =>
      db.run(`CREATE TRIGGER ownownownown AFTER INSERT ON provider BEGIN DELETE FROM domain; END`);
    const isOurs = named.startsWith('table');
    const file = await forged(backed, {
      ...(isOurs ? {} : { change }),
      edit: instead(from, to),
    });
    await expectRefusal(file, `cannot be used: the database has ${named}`);
  });

  test('in the data directory: no backup that could not be restored', async () => {
    const { dataDir, folder } = backed;
    const db = openBeside(dataDir);
    db.run('CREATE VIEW own AS SELECT * FROM provider');
    db.close();
    const file = join(folder, 'two.backup');
    const order = { dataDir, file, replaces: false, nowMs: NOW_MS, ...NO_PASSPHRASE };
    await expect(makeBackup(order)).rejects.toThrow(`the database has view "own", ${OF_NONE}`);
    expect(readdirSync(folder).sort()).toEqual(['data', 'one.backup']);
  });

  test('what SQLite and a replicator add is no reason to refuse', async () => {
    const file = await forged(backed, {
      change: (db) => {
        db.run('ANALYZE');
        db.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
        db.run('CREATE TABLE _litestream_lock (id INTEGER)');
      },
      more: { rows: {} },
    });
    // Only the rows differ, which are counted after the schema was compared.
    await expectRefusal(file, ' in the backup');
  });

  test('every schema that was ever released is its own measure', async () => {
    const db = new Database(':memory:');
    for (let schema = 1; schema <= SCHEMA_VERSION; schema++) {
      db.run(MIGRATIONS[schema - 1] ?? '');
      if ((SCHEMA_VERSION - schema) % SCHEMA_STEP > 0) continue;
      db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
      db.run(`PRAGMA user_version = ${schema}`);
      const edit = () => db.serialize();
      const file = await forged(backed, { edit, more: { schema, rows: {} } });
      await expectRefusal(file, ' in the backup');
    }
  });
});

async function* zeros(count: number) {
  for (let n = 0; n < count; n++) yield Buffer.alloc(1024 ** 2);
}

describe('more than there is room for', () => {
  test('a promise beyond the disk is refused before anything is written', async () => {
    const { bavail, bsize } = statfsSync(backed.folder);
    const file = await forged(backed, { more: { database_bytes: bavail * bsize * 2 } });
    await expectRefusal(file, 'no space left on the disk of ');
  });

  test('what is more than was promised is never unpacked', async () => {
    const promised = 1024 ** 2;
    const file = await forged(backed, {
      more: { database_bytes: promised },
      stream: zeros(256),
    });
    await expectRefusal(file, 'it is too long');
    let written = 0;
    const read = readContainer(file, null, () => (chunk) => {
      written += chunk.length;
    });
    await expect(read).rejects.toThrow('it is too long');
    expect(written).toBeLessThanOrEqual(promised);
  });

  test('a zstd window of 128 MiB is not allocated', async () => {
    const good = readFileSync(backed.file);
    const head = good.subarray(0, good.indexOf(10, good.indexOf(10) + 1) + 1);
    const database = zstdDecompressSync(good.subarray(head.length, -65));
    const packer = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } });
    const packed = Readable.from([database.subarray(0, 9), database.subarray(9)]).pipe(packer);
    const bytes = Buffer.concat([head, ...(await packed.toArray())]);
    const file = join(backed.folder, 'wide.backup');
    const sum = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(file, Buffer.concat([bytes, latin(`${sum}\n`)]));
    await expectRefusal(file, 'is damaged');
  });

  test('a key that would take a gibibyte of memory is not derived', async () => {
    const file = join(backed.folder, 'dear.backup');
    const header = (factor: number) =>
      `age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} ${factor}\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`;
    for (const factor of [19, 20, 99]) {
      writeFileSync(file, header(factor));
      await expectRefusal(file, `has work factor ${factor}: the limit is 18`, 'x');
    }
    // A header without an end, which a reader of lines would follow to the end of the file.
    writeFileSync(file, `age-encryption.org/v1\n-> scrypt ${'A'.repeat(100_000)}`);
    await expectRefusal(file, 'its header names no passphrase', 'x');
  });

  test.each([
    ['a text for a number', { schema: '4' }],
    ['a time that cannot be shown', { created_at_ms: 9e15 }],
    ['a number below zero', { database_bytes: -1 }],
    ['a version that moves the cursor', { gatepost: '\u001b[2J' }],
    ['a table that moves the cursor', { rows: { '\u001b[2J': 1 } }],
    ['a sum that is none', { database_sha256: 'x' }],
    ['rows in a list', { rows: [] }],
  ])('a manifest with %s is none', async (_, more) => {
    const file = await forged(backed, { more: more as Partial<Manifest> });
    await expectRefusal(file, 'its manifest is invalid');
  });

  test('a manifest that nests, or that does not end, costs nothing', async () => {
    const { folder } = backed;
    const file = join(folder, 'deep.backup');
    writeFileSync(file, `gatepost-backup 1\n${'['.repeat(60_000)}\n`);
    await expectRefusal(file, 'must not nest deeper');
    writeFileSync(file, `gatepost-backup 1\n{"a":"${'x'.repeat(1024 ** 2)}`);
    await expectRefusal(file, 'it has no manifest');
    rmSync(file);
    const manifest = await verifyBackup({
      dataDir: backed.dataDir,
      file: backed.file,
      passphrase: null,
    });
    const rows = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`t${n}`, 1]));
    await writeContainer(file, { ...manifest, rows }, zeros(0), null);
    await expectRefusal(file, 'must not hold more than 1000 values');
  });
});

test('a fault of the writer is thrown unchanged, not as damage', async () => {
  const fault = new Error('the disk is broken');
  const writer = () => () => {
    throw fault;
  };
  await expect(readContainer(backed.file, null, writer)).rejects.toBe(fault);
});

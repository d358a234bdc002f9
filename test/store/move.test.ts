/** `gatepost move-database`: all data there and back, and whatever comes between. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect } from 'bun:test';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { progressOf } from '../../src/store/move/side.ts';
import { APPLICATION_ID, ARRIVING_ID, pragmaNumber } from '../../src/store/sqlite/file/migrate.ts';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { writeOldDatabase } from '../support/old-database.ts';
import { openPlace } from '../support/place.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';

/** Texts that the format of the copy, or the server, could take for something else. */
const NOTES = ['\\N', '\\', 'a\tb\nc\rd', "it's \\. and \\x00", 'žluť 🐧', '', '  '];

let line: CommandLine;
let database: TestDatabase;
beforeEach(async () => {
  line = commandLine({ dataDir: dataOf('0-5-0') });
  database = await bareDatabase();
});
afterEach(async () => {
  line.close();
  rmSync(line.dataDir, { recursive: true, force: true });
  await database.drop();
});

const fileOf = () => join(line.dataDir, 'gatepost.db');

function inFile<T>(work: (db: Database) => T): T {
  const db = new Database(fileOf(), { readwrite: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** A data directory as a release left it, at this program's schema, with notes that are odd. */
function dataOf(release: string): string {
  const dataDir = freshFolder();
  writeOldDatabase(join(dataDir, 'gatepost.db'), `test/store/data-of-${release}.sql`);
  return dataDir;
}

/** Brings the data to this schema, as a server would. */
async function migrateData(): Promise<void> {
  const store = await openPlace({ dataDir: line.dataDir, databaseUrl: null }, { migrates: true });
  await store.close();
  inFile((db) => {
    const ids = db.query<{ id: number }, []>('SELECT id FROM install ORDER BY id').all();
    NOTES.forEach((note, at) => {
      db.run('UPDATE install SET note = ? WHERE id = ?', [note, ids[at % ids.length]?.id ?? 0]);
    });
    // A named HWID takes a place.
    db.run('UPDATE install SET install_limit = install_limit + 1 WHERE install_limit < 100');
    db.run(
      `INSERT INTO named_hwid SELECT id, id, provider_id, ?1, 5, ?1, ?1, ?1, ?1, ?1
       FROM install WHERE device_count < install_limit`,
      [NOTES.join('')],
    );
    // It only counts, and holds more than its limit.
    const over = 'UPDATE install SET enforce = 0, over_max = device_count, install_limit = 1';
    expect(db.run(`${over} WHERE device_count > 1`).changes).toBeGreaterThan(0);
    db.run(
      'INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 77 WHERE ?1 NOT IN (SELECT name FROM sqlite_sequence)',
      ['notice'],
    );
    // Tables that the data of no release has rows of.
    const odd = NOTES.join('');
    db.run('INSERT INTO refused_device SELECT id, ?1, ?1, ?1, ?1, 2, 3, 4 FROM install', [odd]);
    db.run(
      `INSERT INTO install_tombstone (provider_id, install_code, ended_at_ms, why)
       SELECT id, code, 5, 'revoked' FROM provider`,
    );
    db.run(
      `INSERT INTO subscription_figures (install_id, provider_id, ends_at_ms, total_bytes,
         used_bytes, read_at_ms, source, since_ms, period_ends_at_ms, period_total_bytes)
       SELECT id, provider_id, 1, ?1, NULL, 2, 'panel', 3, NULL, 4 FROM install`,
      [Number.MAX_SAFE_INTEGER],
    );
    const hash = Buffer.alloc(32, 7);
    db.run(`INSERT INTO slot_bar VALUES (1, ?1, 5, 6, 'ios', '', ?2)`, [hash, odd]);
    db.run(
      `INSERT INTO slot_phone SELECT install_id, device_id, 2, 'install', 'android', ?1, '', 'certain',
         3, 4, device_id, 5 FROM install_device`,
      [odd],
    );
    db.run('UPDATE install_device SET doubt_until_ms = -1');
    db.run(`INSERT INTO idempotent_call SELECT id, 'k', 'c', ?1, ?2, 6 FROM provider`, [hash, odd]);
  });
}

/** All in the file but the last block of the log, and what says where the data are. */
function contents(isBack = false): Record<string, unknown[]> {
  return inFile((db) => {
    const tables = db
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
      )
      .all();
    return Object.fromEntries(
      tables.map(({ name }) => {
        const rows = db.query(`SELECT * FROM "${name}"`).all();
        if (name === 'sqlite_sequence') {
          return [
            name,
            (rows as { seq: number }[])
              .filter(({ seq }) => seq > 0)
              .map((row) => JSON.stringify(row))
              .sort(),
          ];
        }
        return [name, name === 'audit' && isBack ? rows.slice(0, -2) : rows];
      }),
    );
  });
}

const there = (...words: string[]) => line.run('move-database', '--to', database.url, ...words);

/** The command with the database in place of the file. */
function back(...words: string[]) {
  return line.run('move-database', '--to', 'sqlite', '--config', configFile(), ...words);
}

function configFile(): string {
  return line.secretFile(`[database]\nurl = "${database.url}"\n`);
}

/** What says where the data are. */
const markOf = async () => (await database.sql`SELECT move FROM gatepost_schema`)[0]?.move;
const idOf = () => inFile((db) => pragmaNumber(db, 'application_id'));

const refused = (code: string, words: string) => ({
  code: 1,
  stderr: expect.stringMatching(new RegExp(`"code":"${code}".*${words}`)),
});

testPostgres('the progress ends with the rows of all tables', () => {
  const shown: (readonly number[])[] = [];
  const job = { onRows: (...counts: number[]) => shown.push(counts), signal: AbortSignal.any([]) };
  const count = progressOf({ rows: { device: 4, install: 3 } }, job);
  count(4);
  count(3);
  expect(shown).toEqual([
    [4, 7],
    [7, 7],
  ]);
});

describePostgres('move-database', () => {
  testPostgres('takes everything there, and back again as it was', async () => {
    await migrateData();
    const before = contents();
    for (const table of ['slot_phone', 'slot_bar', 'named_hwid']) {
      expect(before[table]).not.toEqual([]);
    }
    // How backups of the file went says nothing about the other database.
    inFile((db) =>
      db.run(`INSERT INTO upkeep (task, schedule, scheduled_at_ms, is_failing, failure_count)
        VALUES ('backup', 'x', 1, 1, 1)`),
    );
    expect(await there('--check')).toMatchObject({ code: 0, stderr: '' });
    const moved = await there('--json');
    expect(moved).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
    const report = JSON.parse(moved.stdout);
    expect(report.rows['install']).toBe(before['install']?.length);
    expect(report.audit.problem).toBeNull();

    expect(await line.run('provider', 'list', '--json')).toMatchObject(
      refused('database_moved', `moved to PostgreSQL .database ${database.name} at 127.0.0.1:`),
    );
    expect(await database.sql`SELECT task FROM upkeep`).toHaveLength(0);
    expect((await line.run('doctor', '--config', configFile())).stdout).toContain(
      'ok        backups: those of PostgreSQL are made by its own tools, not by Gatepost\n',
    );
    const listed = await line.run('audit', 'list', '--json', '--config', configFile());
    expect(JSON.parse(listed.stdout)[0]).toMatchObject({
      action: 'database.move',
      object: { from: 'sqlite' },
    });

    expect(await back('--check')).toMatchObject({ code: 0, stderr: '' });
    const returned = await back('--json');
    expect(returned).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
    expect(contents(true)).toEqual(before);
    expect(await line.run('audit', 'verify')).toMatchObject({ code: 0 });
    expect(await line.run('provider', 'list', '--json', '--config', configFile())).toMatchObject(
      refused('database_moved', `moved to a file in ${line.dataDir} on ${hostname()}`),
    );
    expect(await line.run('doctor', '--config', configFile())).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`its data moved to a file in ${line.dataDir} on `),
    });
    expect(await line.run('provider', 'list')).toMatchObject({ code: 0 });
    // The way is open again, over what was left behind.
    expect(await there('--json')).toMatchObject(refused('file_exists', '--force'));
    expect(await there('--force')).toMatchObject({ code: 0 });
  });

  testPostgres('gives no id twice', async () => {
    await migrateData();
    const seq = () =>
      inFile((db) =>
        Object.fromEntries(
          db
            .query<{ name: string; seq: number }, []>('SELECT name, seq FROM sqlite_sequence')
            .all()
            .map(({ name, seq }) => [name, seq]),
        ),
      );
    inFile((db) => db.run("UPDATE sqlite_sequence SET seq = 4000 WHERE name = 'install'"));
    const before = seq();
    await there();
    const [next] = await database.sql`SELECT nextval('install_id_seq')::int AS id`;
    expect(next?.id).toBe(4001);
    await back();
    expect(seq()).toEqual({ ...before, install: 4001 });
  });

  testPostgres('refuses a text that PostgreSQL cannot hold, and says where it is', async () => {
    await migrateData();
    inFile((db) => db.run('UPDATE install SET note = ? WHERE id = 1', ['a\0b']));
    const words = 'install.note has a text with the character NUL';
    expect(await there('--check', '--json')).toMatchObject(refused('failed', words));
    expect(await there('--json')).toMatchObject(refused('failed', words));
    expect(await markOf()).toBeNull();
    expect(idOf()).toBe(APPLICATION_ID);
    expect(await line.run('provider', 'list')).toMatchObject({ code: 0 });
  });

  testPostgres('moves nothing into a database that is at work', async () => {
    await migrateData();
    const store = await openPlace({ dataDir: '', databaseUrl: database.url }, { create: true });
    await store.close();
    const hash = Buffer.alloc(32);
    await database.sql`INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
      VALUES ('there', '', 'pro', ${hash}, 0)`;
    expect(await there('--check', '--json')).toMatchObject(refused('file_exists', 'at work'));
    expect(await there('--json', '--force')).toMatchObject(refused('file_exists', 'at work'));
    expect(idOf()).toBe(APPLICATION_ID);
    await database.sql`DELETE FROM provider`;
    await database.sql`INSERT INTO node (name, address, version, schema, started_at_ms, seen_at_ms)
      SELECT 'one', '', '', 1, 0, extract(epoch FROM clock_timestamp()) * 1000`;
    expect(await there('--json')).toMatchObject(refused('locked', 'the node one works'));
  });

  testPostgres('refuses a database in another encoding', async () => {
    await migrateData();
    const latin = await bareDatabase(undefined, "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    for (const words of [['--check'], []]) {
      const run = await line.run('move-database', '--to', latin.url, ...words, '--json');
      expect(run).toMatchObject(refused('failed', 'has the encoding LATIN1'));
    }
    await latin.drop();
  });

  testPostgres('moves nothing from a file that has nothing, or not all yet', async () => {
    await migrateData();
    inFile((db) => db.run(`PRAGMA application_id = ${ARRIVING_ID}`));
    expect(await there('--json')).toMatchObject(
      refused('database_moved', 'have not all arrived: .*--to sqlite'),
    );
    expect(idOf()).toBe(ARRIVING_ID);
    rmSync(fileOf());
    expect(await there('--check', '--json')).toMatchObject(
      refused('database_missing', 'there is no Gatepost database'),
    );
    const [schema] = await database.sql`SELECT to_regclass('gatepost_schema') AS name`;
    expect(schema?.name).toBeNull();
  });

  testPostgres('waits for nobody who has the file open', async () => {
    await migrateData();
    const store = await openPlace({ dataDir: line.dataDir, databaseUrl: null });
    expect(await there('--json')).toMatchObject(refused('locked', 'in use'));
    expect(await there('--check')).toMatchObject({ code: 0 });
    await store.close();
  });
});

describePostgres('a move that was killed', () => {
  testPostgres('in the middle of the rows has moved none, and is begun anew', async () => {
    await migrateData();
    await there('--check');
    const store = await openPlace({ dataDir: '', databaseUrl: database.url }, { create: true });
    await store.close();
    const before = contents();
    // The move waits for this table, and is ended there.
    await database.sql`BEGIN`;
    await database.sql`LOCK TABLE install IN ROW EXCLUSIVE MODE`;
    const moving = there('--json');
    await until('it waits for the table', async () => {
      const [waiting] = await database.sql`
        SELECT pid FROM pg_locks WHERE relation = 'install'::regclass AND NOT granted`;
      if (waiting !== undefined)
        await database.sql`SELECT pg_terminate_backend(${waiting.pid}::int)`;
      return waiting !== undefined;
    });
    await database.sql`COMMIT`;
    expect(await moving).toMatchObject(refused('not_saved', 'went away'));
    expect(contents()).toEqual(before);
    expect(idOf()).toBe(APPLICATION_ID);
    const [count] = await database.sql`SELECT count(*)::int AS count FROM install`;
    expect(count?.count).toBe(0);
    expect(await there()).toMatchObject({ code: 0 });
  });

  testPostgres('behind the rows is begun anew: the file has not let go', async () => {
    await migrateData();
    const before = contents();
    await there();
    // As it was before the file was marked; then somebody went on with it.
    inFile((db) => db.run(`PRAGMA application_id = ${APPLICATION_ID}`));
    await database.sql`UPDATE gatepost_schema SET move = 'arriving'`;
    expect(await line.run('provider', 'list', '--json', '--config', configFile())).toMatchObject(
      refused('database_moved', 'have not all arrived'),
    );
    inFile((db) => db.run("UPDATE install SET note = 'later' WHERE id = 1"));
    expect(await there()).toMatchObject({ code: 0 });
    const [row] = await database.sql`SELECT note FROM install WHERE id = 1`;
    expect(row?.note).toBe('later');
    expect(before).not.toEqual(contents());
  });

  testPostgres('before its last words is only finished', async () => {
    await migrateData();
    await there();
    await database.sql`UPDATE gatepost_schema SET move = 'arriving'`;
    expect(await there()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all data had moved'),
    });
    expect(await markOf()).toBeNull();
    expect(await there('--json')).toMatchObject(refused('database_moved', 'nothing to move'));
    // It waits for the data of another file.
    await database.sql`UPDATE gatepost_schema SET move = 'arriving'`;
    await database.sql`UPDATE audit SET hash = ${Buffer.alloc(32)}`;
    expect(await there('--json')).toMatchObject(refused('database_moved', 'nothing to move'));
    expect(await markOf()).toBe('arriving');
  });

  testPostgres('on its way back does the same', async () => {
    await migrateData();
    await there();
    const files = () => readdirSync(line.dataDir).filter((name) => name.endsWith('.db')).length;
    // The file is in its place, and the database has not let go.
    await back();
    inFile((db) => db.run(`PRAGMA application_id = ${ARRIVING_ID}`));
    await database.sql`UPDATE gatepost_schema SET move = NULL`;
    expect(await line.run('provider', 'list', '--json')).toMatchObject(
      refused('database_moved', 'have not all arrived'),
    );
    const before = files();
    const half = join(line.dataDir, '.gatepost-0123456789ab.unpacked');
    writeFileSync(half, 'half of the rows');
    expect(await back()).toMatchObject({ code: 0 });
    expect(existsSync(half)).toBe(false);
    // Nobody needs what was left in the middle.
    expect(files()).toBe(before);
    // The database has let go, and the file does not know.
    inFile((db) => db.run(`PRAGMA application_id = ${ARRIVING_ID}`));
    expect(await back()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all data had moved'),
    });
    expect(idOf()).toBe(APPLICATION_ID);
    expect(await back('--json')).toMatchObject(refused('database_moved', 'nothing to move'));
  });
});

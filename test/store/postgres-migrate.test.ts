/** Migrating a PostgreSQL: nodes that start at once, older and newer programs, what is refused. */

import { expect } from 'bun:test';
import { OperatorError } from '../../src/base/operator-error.ts';
import { VERSION } from '../../src/base/version.ts';
import {
  type Ask,
  isUsable,
  type MigrationRights,
  migrate,
  READABLE_FROM,
  SCHEMA_VERSION,
  schemaOf,
  withConnection,
} from '../../src/store/postgres/migrate.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';

// The first database of a run is made before all others.

const ALL: MigrationRights = { create: true, migrates: true };

const on = <T>({ url, name }: TestDatabase, use: (ask: Ask) => Promise<T>): Promise<T> =>
  withConnection({ adapter: 'postgres', url, database: name }, use);

const migrateIn = (database: TestDatabase, rights = ALL) =>
  on(database, (ask) => migrate(ask, rights));

async function inBareDatabase(use: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await bareDatabase();
  try {
    await use(database);
  } finally {
    await database.drop();
  }
}

/** The one sentence with which it is refused. */
async function refusal(database: TestDatabase, rights = ALL): Promise<string> {
  const refused: unknown = await migrateIn(database, rights).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OperatorError);
  const { message } = refused as OperatorError;
  expect(message).not.toContain('\n');
  return message;
}

async function tableCount({ sql }: TestDatabase): Promise<number> {
  const [row] = await sql`SELECT count(*)::int AS count FROM pg_tables WHERE schemaname = 'public'`;
  return Number(row.count);
}

/** As a program of another schema leaves it. */
async function becomes(database: TestDatabase, version: number, readableFrom: number) {
  await database.sql`UPDATE gatepost_schema
    SET version = ${version}::bigint, readable_from = ${readableFrom}::bigint`;
}

describePostgres('an empty database', () => {
  testPostgres('is made whole, and once', () =>
    inBareDatabase(async (database) => {
      await migrateIn(database);
      const count = await tableCount(database);
      expect(count).toBeGreaterThan(20);
      await migrateIn(database);
      expect(await tableCount(database)).toBe(count);
      expect(await on(database, schemaOf)).toEqual({
        version: SCHEMA_VERSION,
        readableFrom: READABLE_FROM,
        program: VERSION,
        move: null,
        movedTo: null,
      });
    }),
  );

  testPostgres('is made once by eight nodes that start together', () =>
    inBareDatabase(async (database) => {
      await Promise.all(Array.from({ length: 8 }, () => migrateIn(database)));
      expect((await on(database, schemaOf))?.version).toBe(SCHEMA_VERSION);
      const [row] = await database.sql`SELECT count(*)::int AS count FROM gatepost_schema`;
      expect(Number(row.count)).toBe(1);
    }),
  );

  testPostgres('is left alone by who may not make one', () =>
    inBareDatabase(async (database) => {
      const words = await refusal(database, { create: false, migrates: true });
      expect(words).toStartWith('there is no Gatepost in the database');
      expect(await tableCount(database)).toBe(0);
    }),
  );
});

describePostgres('a database of something else', () => {
  testPostgres('with a table of the same name is left as it was', () =>
    inBareDatabase(async (database) => {
      await database.sql`CREATE TABLE webhook (ours text)`;
      expect(await refusal(database)).toStartWith('the database belongs to something else');
      expect(await tableCount(database)).toBe(1);
    }),
  );

  testPostgres('where the role may make nothing says what to do', () =>
    inBareDatabase(async (database) => {
      await database.sql`REVOKE CREATE ON SCHEMA public FROM public`;
      await database.sql`ALTER SCHEMA public OWNER TO postgres`;
      expect(await refusal(database)).toStartWith('the role may not create tables');
    }),
  );

  testPostgres('in another encoding than UTF-8 is refused', () =>
    inBareDatabase(async (database) => {
      const name = `${database.name}_latin`;
      await database.sql.unsafe(`CREATE DATABASE ${name} OWNER gatepost TEMPLATE template0
        ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`);
      try {
        const url = database.url.replace(database.name, name);
        const words = await refusal({ ...database, url, name });
        expect(words).toBe("the database has the encoding LATIN1: make it with ENCODING 'UTF8'");
      } finally {
        await database.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    }),
  );

  testPostgres('that takes no writes is refused', () =>
    inBareDatabase(async (database) => {
      await database.sql.unsafe(
        `ALTER DATABASE ${database.name} SET default_transaction_read_only = on`,
      );
      expect(await refusal(database)).toStartWith('the database takes no writes');
    }),
  );
});

describePostgres('a database of another program', () => {
  testPostgres('that is newer is used if it can be, and else left alone', () =>
    inBareDatabase(async (database) => {
      await migrateIn(database);
      await becomes(database, SCHEMA_VERSION + 2, SCHEMA_VERSION);
      await migrateIn(database);
      expect((await on(database, schemaOf))?.version).toBe(SCHEMA_VERSION + 2);
      await becomes(database, SCHEMA_VERSION + 2, SCHEMA_VERSION + 1);
      await database.sql`UPDATE gatepost_schema SET program = '7.1.0'`;
      const words = `the database has schema ${SCHEMA_VERSION + 2}, this program knows up to ${SCHEMA_VERSION}`;
      expect(await refusal(database)).toBe(
        `${words}: gatepost 7.1.0 made it: use that version or a newer one; nothing was changed`,
      );
      // As programs before 0.20.0 left it.
      await database.sql`ALTER TABLE gatepost_schema DROP COLUMN program`;
      expect(await refusal(database)).toBe(`${words}: use a newer gatepost; nothing was changed`);
      expect((await on(database, schemaOf))?.version).toBe(SCHEMA_VERSION + 2);
    }),
  );

  testPostgres('that is older waits for a server, which has the permission', () =>
    inBareDatabase(async (database) => {
      await migrateIn(database);
      await becomes(database, SCHEMA_VERSION - 1, SCHEMA_VERSION - 1);
      const words = await refusal(database, { create: false, migrates: false });
      expect(words).toStartWith(
        `the database has schema ${SCHEMA_VERSION - 1}, this program needs`,
      );
    }),
  );

  testPostgres('is usable by its version and by those that it can be read from', () => {
    const usable = (version: number, readableFrom: number) => isUsable({ version, readableFrom });
    expect(usable(SCHEMA_VERSION, 1)).toBe(true);
    expect(usable(SCHEMA_VERSION + 1, SCHEMA_VERSION)).toBe(true);
    expect(usable(SCHEMA_VERSION + 1, SCHEMA_VERSION + 1)).toBe(false);
    expect(usable(SCHEMA_VERSION - 1, 1)).toBe(false);
    return Promise.resolve();
  });
});

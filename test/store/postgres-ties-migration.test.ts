/** An installation on PostgreSQL from before ties: links that the proxy made are known. */

import { expect } from 'bun:test';
import { MIGRATIONS } from '../../migrations/postgres/index.ts';
import { migrate, withConnection } from '../../src/store/postgres/migrate.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';

const BEFORE = MIGRATIONS.findIndex((text) => text.includes('CREATE TABLE link_tie'));

/** Makes the schema before with these rows, and migrates it. */
async function inMigrated(rows: string, use: (database: TestDatabase) => Promise<void>) {
  const database = await bareDatabase();
  const { name, url } = database;
  try {
    await withConnection({ adapter: 'postgres', url, database: name }, async (ask) => {
      await ask(`CREATE TABLE gatepost_schema (id bigint PRIMARY KEY, version bigint NOT NULL,
          readable_from bigint NOT NULL, move text COLLATE "C");
        INSERT INTO gatepost_schema (id, version, readable_from) VALUES (1, ${BEFORE}, ${BEFORE})`);
      for (const migration of MIGRATIONS.slice(0, BEFORE)) await ask(migration);
      await ask(rows);
      await migrate(ask, { create: false, migrates: true });
    });
    await use(database);
  } finally {
    await database.drop();
  }
}

const hash = (n: number) => `decode(repeat('0${n}', 32), 'hex')`;
const PROVIDER = `
  INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
  VALUES (1, 'Provide1', '', 'pro', ${hash(1)}, 0), (2, 'Provide2', '', 'pro', ${hash(2)}, 0);
  INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms,
    subscription_key_hash, panel_facts)
  VALUES (1, 1, 'LinkCode0001', 5, 10, 100, NULL, NULL)`;

describePostgres('an installation from before ties', () => {
  testPostgres('with keys of links ties nothing, and knows which links the proxy made', () =>
    inMigrated(
      `${PROVIDER},
        (2, 1, 'LinkCode0002', 5, 10, 100, ${hash(3)}, NULL),
        (3, 1, 'LinkCode0003', 5, 10, 100, ${hash(4)}, NULL),
        (4, 1, 'LinkCode0004', 5, 10, 100, ${hash(5)}, '{}');
      INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
        first_seen_at_ms, last_seen_at_ms)
      VALUES (1, 'a', '', '', '', '', '', 0, 0);
      INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name,
        app_version, user_agent, last_seen_at_ms)
      VALUES (1, 1, '', '', '', '', '', 0);
      INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
        last_seen_at_ms, after_recipient_id)
      VALUES (1, 1, 1, 100, 100, 0), (2, 1, 1, 100, 100, 0), (3, 1, 1, 101, 101, 0),
        (4, 1, 1, 100, 100, 0);`,
      async ({ sql }) => {
        const made = await sql`SELECT id::int FROM install WHERE of_gate = 1`;
        expect(made.map(({ id }: { id: number }) => id)).toEqual([2]);
        const ties = await sql`SELECT ties FROM provider`;
        expect(ties.map(({ ties: one }: { ties: number }) => one)).toEqual([0, 0]);
      },
    ),
  );

  testPostgres('without a key of a link lets fetches tie', () =>
    inMigrated(`${PROVIDER};`, async ({ sql }) => {
      const ties = await sql`SELECT ties FROM provider`;
      expect(ties.map(({ ties: one }: { ties: number }) => one)).toEqual([1, 1]);
    }),
  );
});

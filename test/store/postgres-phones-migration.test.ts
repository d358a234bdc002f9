/** An installation on PostgreSQL from before phones, and before the first phones of slots. */

import { expect } from 'bun:test';
import { MIGRATIONS } from '../../migrations/postgres/index.ts';
import { migrate, withConnection } from '../../src/store/postgres/migrate.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';

const indexOf = (words: string) => MIGRATIONS.findIndex((text) => text.includes(words));

/** Makes the schema of so many migrations with these rows, and migrates it. */
async function inMigrated(
  version: number,
  rows: string,
  use: (database: TestDatabase) => Promise<void>,
) {
  const database = await bareDatabase();
  const { name, url } = database;
  try {
    await withConnection({ adapter: 'postgres', url, database: name }, async (ask) => {
      await ask(`CREATE TABLE gatepost_schema (id bigint PRIMARY KEY, version bigint NOT NULL,
          readable_from bigint NOT NULL, move text COLLATE "C");
        INSERT INTO gatepost_schema (id, version, readable_from)
        VALUES (1, ${version}, ${version})`);
      for (const migration of MIGRATIONS.slice(0, version)) await ask(migration);
      await ask(rows);
      await migrate(ask, { create: false, migrates: true });
    });
    await use(database);
  } finally {
    await database.drop();
  }
}

/** A device `x` on two links, and one on one. */
const ROWS = `
  INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
  VALUES (1, 'Provide1', '', 'pro', decode(repeat('01', 32), 'hex'), 0);
  INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms)
  VALUES (1, 1, 'LinkCode0001', 5, 10, 100), (2, 1, 'LinkCode0002', 5, 10, 100);
  INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
    first_seen_at_ms, last_seen_at_ms)
  VALUES (1, 'x', '', '', '', '', '', 0, 0), (2, 'y', '', '', '', '', '', 0, 0);
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name,
    app_version, user_agent, last_seen_at_ms)
  VALUES (1, 1, 'android', '', 'Pixel 9', '', 'Happ/3', 7), (2, 1, 'ios', '', '', '', '', 7);
  INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
    last_seen_at_ms, after_recipient_id)
  VALUES (1, 1, 1, 100, 100, 0), (2, 1, 1, 100, 100, 0), (1, 2, 1, 100, 100, 0);`;

const doubts = async ({ sql }: TestDatabase) =>
  (await sql`SELECT doubt_until_ms::bigint AS at FROM install_device ORDER BY id`).map(
    ({ at }: { at: string }) => Number(at),
  );

describePostgres('an installation from before', () => {
  testPostgres('phones: facts that are of several links say nothing of the first phone', () =>
    inMigrated(indexOf('CREATE TABLE slot_phone'), ROWS, async (database) => {
      expect(await doubts(database)).toEqual([-1, -1, 0]);
      const { sql } = database;
      expect(await sql`SELECT 1 FROM slot_phone`).toHaveLength(0);
      const links = await sql`SELECT has_phones::int AS has, has_bars::int AS bars FROM install`;
      expect([...links]).toEqual([0, 0].map(() => ({ has: 0, bars: 0 })));
      // A change of the facts doubts the slot of one link alone.
      await sql`UPDATE device_provider SET os = 'windows', last_seen_at_ms = 9`;
      expect(await doubts(database)).toEqual([-1, -1, 9 + 30 * 86_400_000]);
    }),
  );

  testPostgres('first phones: a slot that knows its phones keeps them, and its bars', () => {
    const phones = `
      INSERT INTO slot_phone (install_id, device_id, number, door, family, app, model_hash, state,
        first_seen_at_ms, last_seen_at_ms)
      VALUES (1, 1, 1, 'install', 'android', 'Happ', 'ab', 'first', 1, 7);
      UPDATE install_device SET doubt_until_ms = 50 WHERE install_id = 1;
      INSERT INTO slot_bar (install_id, hwid_hash, made_at_ms, until_ms)
      VALUES (1, decode(repeat('02', 32), 'hex'), 5, 6);`;
    const before = indexOf('ALTER TABLE slot_bar ADD COLUMN family');
    return inMigrated(before, `${ROWS}${phones}`, async (database) => {
      expect(await doubts(database)).toEqual([50, -1, 50]);
      const { sql } = database;
      const bars = await sql`SELECT family, app, model_hash FROM slot_bar`;
      expect([...bars]).toEqual([{ family: '', app: '', model_hash: '' }]);
      expect(await sql`SELECT 1 FROM slot_phone`).toHaveLength(1);
    });
  });
});

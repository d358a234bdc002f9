/** What holds in a PostgreSQL whoever writes to it: counts, laws, tokens that lose their places. */

import { expect } from 'bun:test';
import type { SQL } from 'bun';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';

// The first database of a run is made before all others.

/** More than a provider's row has versions on a page. */
const MANY = 3_000;

async function inDatabase(use: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await freshDatabase();
  try {
    await database.sql
      .unsafe(`
      INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
        SELECT i, 'p' || i, '', 'pro', decode(repeat('00', 32), 'hex'), 0
        FROM generate_series(1, 2) i;
      INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
        first_seen_at_ms, last_seen_at_ms)
        SELECT i, 'h' || i, '', '', '', '', '', 0, 0 FROM generate_series(1, 10) i`)
      .simple();
    await use(database);
  } finally {
    await database.drop();
  }
}

async function numbers(sql: SQL, query: string): Promise<number[]> {
  const [row] = await sql.unsafe(query);
  return Object.values(row as Record<string, unknown>).map(Number);
}

const addLinks = (sql: SQL, count: number, from = 0) =>
  sql.unsafe(`INSERT INTO install (id, provider_id, install_code, install_limit, status,
      created_at_ms)
    SELECT ${from} + i, 1 + i % 2, 'c' || ${from} + i, 3, 10, 0
    FROM generate_series(1, ${count}) i`);

const addSlots = (sql: SQL, linkId: number, devices: string) =>
  sql.unsafe(`INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
      after_recipient_id)
    SELECT i.id, d, i.provider_id, 0, 0 FROM install i, unnest(ARRAY[${devices}]) d
    WHERE i.id = ${linkId}`);

describePostgres('counts', () => {
  testPostgres('of providers are those of their rows, however many come and go at once', () =>
    inDatabase(async ({ sql }) => {
      await addLinks(sql, MANY);
      const counts =
        'SELECT array_to_string(array_agg(install_count ORDER BY id), $$$$) FROM provider';
      expect(await numbers(sql, counts)).toEqual([Number(`${MANY / 2}${MANY / 2}`)]);
      await sql`DELETE FROM install WHERE provider_id = 1 AND id <= 100`;
      expect(await numbers(sql, counts)).toEqual([Number(`${MANY / 2 - 50}${MANY / 2}`)]);
    }),
  );

  testPostgres('of slots above the limit fall with each slot that ends', () =>
    inDatabase(async ({ sql }) => {
      await addLinks(sql, 1);
      await sql`UPDATE install SET over_max = 4`;
      await addSlots(sql, 1, '1, 2, 3, 4');
      await expect(addSlots(sql, 1, '5')).rejects.toThrow('install_never_over_full');
      await sql`DELETE FROM install_device WHERE device_id = 4`;
      expect(await numbers(sql, 'SELECT device_count, over_max FROM install')).toEqual([3, 3]);
      await expect(addSlots(sql, 1, '5')).rejects.toThrow('install_never_over_full');
    }),
  );

  testPostgres('of slots never pass the limit, and hold through every cascade', () =>
    inDatabase(async ({ sql }) => {
      await addLinks(sql, 4);
      await addSlots(sql, 1, '1, 2');
      await addSlots(sql, 2, '1, 2, 3');
      await expect(addSlots(sql, 1, '3, 4')).rejects.toThrow('install_never_over_full');
      const looks = `SELECT (SELECT device_count FROM install WHERE id = 1) AS a,
        (SELECT device_count FROM install WHERE id = 2) AS b,
        (SELECT sum(slot_count) FROM device_provider) AS c,
        (SELECT sum(holder_count) FROM device) AS d,
        (SELECT count(*) FROM device WHERE holder_count = 0) AS e`;
      expect(await numbers(sql, looks)).toEqual([2, 3, 5, 5, 7]);
      await sql`DELETE FROM device WHERE id = 1`;
      expect(await numbers(sql, looks)).toEqual([1, 2, 3, 3, 7]);
      await sql`DELETE FROM provider WHERE id = 1`;
      expect(await numbers(sql, looks)).toEqual([1, 0, 1, 1, 8]);
    }),
  );

  testPostgres('of a queue are those of its rows, also when recipients go', () =>
    inDatabase(async ({ sql }) => {
      await sql
        .unsafe(`
        INSERT INTO distribution (id, provider_id, notification_type, status, target_hwid,
          created_at_ms, due_at_ms, reaches_unbound, expires_at_ms, payload)
          VALUES (1, 1, 10, 10, '', 0, 0, 0, 0, '{}');
        UPDATE distribution SET push_waiting_count = ${MANY};
        INSERT INTO destination (id, kind, origin) VALUES (1, 'fcm', '');
        INSERT INTO recipient (id, distribution_id, device_id, state, inbox, is_waiting,
          queued_at_ms, push_state)
          SELECT i, 1, i, 2, 1, 1, 0, 1 FROM generate_series(1, ${MANY}) i;
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
          SELECT 1, 0, 0, i FROM generate_series(1, ${MANY}) i`)
        .simple();
      const looks = `SELECT (SELECT waiting_count FROM destination) AS a,
        (SELECT count(*) FROM outbox) AS b,
        (SELECT push_waiting_count FROM distribution) AS c`;
      expect(await numbers(sql, looks)).toEqual([MANY, MANY, MANY]);
      await sql`UPDATE recipient SET push_state = 2 WHERE id <= 10`;
      await sql`DELETE FROM recipient WHERE id <= 1000`;
      expect(await numbers(sql, looks)).toEqual([MANY - 990, MANY - 990, MANY - 990]);
    }),
  );
});

describePostgres('a token that loses its places', () => {
  testPostgres('goes with the last of them, although two are lost at once', () =>
    inDatabase(async ({ sql, name }) => {
      await sql
        .unsafe(`
        INSERT INTO device_token (id, device_id, token_hash, stands_alone)
          VALUES (1, 1, '\\x01', 0);
        INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name,
          app_version, user_agent, last_seen_at_ms, token_id)
          SELECT 1, i, '', '', '', '', '', 0, 1 FROM generate_series(1, 2) i`)
        .simple();
      const other = (await sharedPostgres()).connect(name);
      try {
        await sql`BEGIN`;
        await sql`UPDATE device_provider SET token_id = NULL WHERE provider_id = 1`;
        const pid = await numbers(other, 'SELECT pg_backend_pid()');
        const done = other`UPDATE device_provider SET token_id = NULL
          WHERE provider_id = 2`.execute();
        await until('the second waits for the first', async () => {
          const waiting = `SELECT count(*) FROM pg_locks WHERE pid = ${pid} AND NOT granted`;
          return (await numbers(sql, waiting))[0] === 1;
        });
        await sql`COMMIT`;
        await done;
        expect(await numbers(sql, 'SELECT count(*) FROM device_token')).toEqual([0]);
      } finally {
        await other.close();
      }
    }),
  );
});

describePostgres('the law', () => {
  testPostgres('of states and of what stays is said by the database itself', () =>
    inDatabase(async ({ sql }) => {
      await addLinks(sql, 1);
      await expect(sql`UPDATE install SET provider_id = 1`.execute()).rejects.toThrow(
        'a link never moves to another provider',
      );
      const add = (status: number) =>
        sql.unsafe(`INSERT INTO distribution (provider_id, notification_type, status, target_hwid,
            created_at_ms, due_at_ms, reaches_unbound, expires_at_ms, payload)
          VALUES (1, 10, ${status}, '', 0, 0, 0, 0, '{}')`);
      await expect(add(40)).rejects.toThrow('a distribution begins as 10 Created');
      await add(10);
      await expect(sql`UPDATE distribution SET status = 100`.execute()).rejects.toThrow(
        'no such transition between statuses of a distribution',
      );
      await expect(sql`UPDATE distribution SET payload = '{"a":1}'`.execute()).rejects.toThrow(
        'what was sent, to whom and by whom, never changes',
      );
      await sql`UPDATE distribution SET status = 20`;
    }),
  );
});

/** The two schemas say the same, but for what is listed here, each with its reason. */

import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import type { SQL } from 'bun';
import { MIGRATIONS } from '../../migrations/sqlite/index.ts';
import { TRANSITIONS } from '../../src/core/message/status.ts';
import { describePostgres, testPostgres } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { conditionsBy, linesOfPostgres, linesOfSqlite } from '../support/schema-lines.ts';

// The first database of a run is made before all others.

const SQLITE_ALONE: readonly string[] = [
  'device_domain: index device_domain_by_provider (device_id, provider_id, domain_id)',
  // Each would lock and write a row for every message; whoever removes these removes those first.
  'outbox.recipient_id -> recipient, CASCADE',
  'recipient.device_id -> device, CASCADE',
  'recipient.distribution_id -> distribution, CASCADE',
];

const POSTGRES_ALONE: readonly string[] = [
  // For the order in which ties came.
  'device_domain.id: number, not null',
  'device_domain: index device_domain_by_provider (device_id, provider_id, id)',
];

/** The audit log's end, where entries wait for it, which schema it is, and who works here. */
const TABLES_OF_POSTGRES = ['audit_head', 'audit_pending', 'gatepost_schema', 'node'];

const tableOf = (line: string) => line.split(/[.:]/, 1)[0] ?? '';

/** The sentences with which triggers refuse. */
function wordsOfSqlite(db: Database): string[] {
  const triggers = db
    .query<{ sql: string }, []>(`SELECT sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all();
  return triggers.flatMap(({ sql }) => /RAISE\(ABORT, '(.*)'\)/.exec(sql)?.[1] ?? []).sort();
}

async function wordsOfPostgres(db: SQL): Promise<string[]> {
  const triggers: { text: string }[] = await db`
    SELECT pg_get_triggerdef(t.oid) || p.prosrc AS text
    FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal`;
  return triggers
    .flatMap(({ text }) => /(?:gatepost_refuse\(|MESSAGE = )'(.*?)'/.exec(text)?.[1] ?? [])
    .sort();
}

describePostgres('the schemas of SQLite and PostgreSQL', () => {
  testPostgres('have the law of the states from the core', async () => {
    const database = await freshDatabase();
    try {
      const rows: { from: bigint; to: bigint }[] = await database.sql`
        SELECT from_status AS "from", to_status AS "to" FROM distribution_transition`;
      const pairs = Object.entries(TRANSITIONS).flatMap(([from, all]) =>
        all.map((to) => `${from} > ${to}`),
      );
      expect(rows.map(({ from, to }) => `${from} > ${to}`).sort()).toEqual(pairs.sort());
    } finally {
      await database.drop();
    }
  });

  testPostgres('are the same but for what is known', async () => {
    const sqlite = new Database(':memory:');
    for (const migration of MIGRATIONS) sqlite.run(migration);
    // Counts that PostgreSQL has none of; what keeps them goes with it.
    sqlite.run(`DROP TRIGGER device_added; DROP TRIGGER device_held; DROP TRIGGER device_removed;
      DROP TABLE appliance`);
    const database = await freshDatabase();
    try {
      const there = await linesOfPostgres(database.sql);
      const here = await linesOfSqlite(sqlite, conditionsBy(database.sql));
      const without = (lines: string[], others: string[]) =>
        lines.filter((line) => !others.includes(line));
      expect(without(here, there)).toEqual([...SQLITE_ALONE]);
      expect(
        without(there, here).filter((line) => !TABLES_OF_POSTGRES.includes(tableOf(line))),
      ).toEqual([...POSTGRES_ALONE]);
      expect(new Set(there.map(tableOf))).toEqual(
        new Set([...here.map(tableOf), ...TABLES_OF_POSTGRES]),
      );
      expect(await wordsOfPostgres(database.sql)).toEqual(wordsOfSqlite(sqlite));
    } finally {
      sqlite.close();
      await database.drop();
    }
  });
});

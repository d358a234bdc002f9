/** Takes away what belongs to a provider, in steps that are small however much there is. */

import { sql } from 'drizzle-orm';
import type { Connection } from './connection.ts';
import { prepare, value } from './statement.ts';

/** How many rows a step deletes. */
const REMOVE_STEP = 2_000;
/** How many parents it looks at: most have few rows. */
const PARENT_STEP = 100;

/**
 * Statements in the order in which they can run, each until it deletes nothing; cascades would take
 * all at once. Rows go before their parents, a run of parents at a time, so that no step looks at
 * those that are empty already.
 */
export function removalSteps(db: Connection) {
  const ofProvider = sql`provider_id = ${value('providerId')}`;
  const parents = (parent: string) =>
    sql`SELECT id FROM ${sql.raw(parent)} WHERE ${ofProvider} ORDER BY id LIMIT ${PARENT_STEP}`;
  const run = (table: string, parent: string) => {
    const rows = prepare(
      db,
      sql`
        DELETE FROM ${sql.raw(table)} WHERE rowid IN (
          SELECT t.rowid FROM (${parents(parent)}) o
          CROSS JOIN ${sql.raw(table)} t ON t.${sql.raw(parent)}_id = o.id LIMIT ${REMOVE_STEP})`,
    );
    const own = prepare(db, sql`DELETE FROM ${sql.raw(parent)} WHERE id IN (${parents(parent)})`);
    return (of: { providerId: number }) => rows.run(of) || own.run(of);
  };
  const devices = prepare(
    db,
    sql`
      DELETE FROM device_provider WHERE rowid IN (
        SELECT rowid FROM device_provider WHERE ${ofProvider} LIMIT ${REMOVE_STEP})`,
  );
  return [
    run('recipient', 'distribution'),
    run('device_domain', 'domain'),
    run('install_device', 'install'),
    (of: { providerId: number }) => devices.run(of),
  ];
}

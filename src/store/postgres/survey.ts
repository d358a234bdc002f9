/** The check of the database: whether it can be reached, keeps what it says, and has its schema. */

import { SQL } from 'bun';
import { about } from '../../finding.ts';
import { messageOf } from '../../operator-error.ts';
import type { DatabaseReport, HostOfProvider } from '../kind.ts';
import { type DatabaseOptions, poolOptions } from './database-options.ts';

const say = about('database');

/** Looks at a database for a diagnosis: everything is read, nothing is changed. */
export async function surveyPostgres(
  place: DatabaseOptions,
  _asked: readonly HostOfProvider[],
): Promise<DatabaseReport> {
  const nothing = { hosts: [], stopped: [], hasSubscriptions: false, newestMs: null, bytes: 0 };
  const sql = new SQL(poolOptions(place, 1));
  try {
    await sql`SELECT 1`;
    return { findings: [say.ok('it answers')], ...nothing };
  } catch (error) {
    const todo = 'see that PostgreSQL runs, and that database.url leads to it';
    return { findings: [say.problem(messageOf(error), todo)], ...nothing };
  } finally {
    await sql.close({ timeout: 0 });
  }
}

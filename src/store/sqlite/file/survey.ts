/** Checks the database: that it opens and is undamaged, and that its log stays small. */

import type { Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { about, type Finding } from '../../../base/finding.ts';
import type { FindingName } from '../../../base/finding-names.ts';
import { type ErrorCode, messageOf, OperatorError } from '../../../base/operator-error.ts';
import { mib } from '../../../disk/room.ts';
import { olderSchemaFinding } from '../../findings.ts';
import type { DatabaseReport, HostsOf } from '../../kind.ts';
import { disabledFindings } from '../../noun/disabled-findings.ts';
import { leapFindings } from '../../noun/leap-findings.ts';
import { type Contents, NO_CONTENTS, reportOf, surveyContents } from '../../noun/survey.ts';
import { Connection } from '../connection.ts';
import { runNow, sqliteStatements } from '../dialect.ts';
import { findDamage, tableNames } from './copy.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { DATABASE_FILE, inspect, openToLook } from './open.ts';
import { findForeignSchema } from './shape.ts';

const say = about('database');
/** Size of the log above what one long transaction or a backup causes, bytes. */
const WAL_BYTES_MAX = 1024 ** 3;

/** Reads the whole database of `dataDir` for a diagnosis, and changes nothing. */
export function surveyDatabase(dataDir: string, hostsOf: HostsOf): DatabaseReport {
  const file = join(dataDir, DATABASE_FILE);
  const bytes = sizeOf(file);
  const ofFault = (finding: Finding) => reportOf([finding], NO_CONTENTS, { newestMs: null, bytes });
  if (!existsSync(file)) {
    const todo = "'gatepost serve' makes one, 'gatepost restore' puts a backup there";
    return ofFault(say.warning('database_missing', `there is no database in ${dataDir}`, todo));
  }
  try {
    const facts = read(file, hostsOf);
    const { schema, newestMs, contents } = facts;
    const findings = findingsOf(facts, sizeOf(`${file}-wal`));
    const fine = say.ok(`${file} is whole, schema ${schema}, ${mib(bytes)} MiB`);
    return reportOf(findings.length > 0 ? findings : [fine], contents, { newestMs, bytes });
  } catch (error) {
    return ofFault(faultFinding(error));
  }
}

const RESTORE = "stop the server and put the last good backup in place with 'gatepost restore'";
/** Findings of a database that cannot be opened, and their remedies if the error has none. */
const FAULTS: Partial<Record<ErrorCode, { name: FindingName; todo?: string }>> = {
  database_newer: { name: 'schema_newer' },
  database_moved: { name: 'database_moved' },
  database_damaged: { name: 'database_damaged', todo: RESTORE },
  locked: { name: 'database_locked', todo: 'end that process if it hangs' },
};

/** Explains why a database cannot be opened. Many errors have their remedy after a colon. */
function faultFinding(error: unknown): Finding {
  const fault = error instanceof OperatorError ? FAULTS[error.code] : undefined;
  const message = messageOf(error).replace('; nothing was changed', '');
  if (fault === undefined) {
    const todo = "see that the file is Gatepost's, and that its disk works (dmesg)";
    return say.problem('database_unreadable', message, todo);
  }
  const { name, todo } = fault;
  const [what = message, ...remedy] = name === 'database_locked' ? [message] : message.split(': ');
  return say.problem(name, what, todo ?? remedy.join(': '));
}

function findingsOf({ schema, foreign, damage, contents }: FileFacts, walBytes: number): Finding[] {
  const findings: Finding[] = [];
  if (schema < SCHEMA_VERSION) findings.push(olderSchemaFinding(schema, SCHEMA_VERSION));
  // A foreign part would run with the program's rights and make each backup unusable.
  if (foreign !== null) {
    const what = `it has ${foreign}, which is not Gatepost's: no backup is made of it`;
    const todo = 'stop the server, see who put it there, and drop it with a shell of SQLite';
    findings.push(say.problem('database_foreign_part', what, todo));
  }
  if (damage !== null) {
    findings.push(say.problem('database_damaged', `it is damaged (${damage})`, RESTORE));
  }
  if (walBytes > WAL_BYTES_MAX) {
    const todo = 'end what holds it open for long: a shell of SQLite, a backup that hangs';
    findings.push(
      say.warning('database_log_large', `its write-ahead log has ${mib(walBytes)} MiB`, todo),
    );
  }
  return [...findings, ...disabledFindings(contents.disabled), ...leapFindings(contents.times)];
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

interface FileFacts {
  schema: number;
  /** A part of its schema that is not of its version; null: none. */
  foreign: string | null;
  /** Null: none. */
  damage: string | null;
  /** Latest time of an event that it records, UTC ms; null: none. */
  newestMs: number | null;
  /** Empty if it is damaged; only the hosts of an older schema. */
  contents: Contents;
}

/** Time to wait for another process, ms. */
const BUSY_TIMEOUT_MS = 5_000;
/** Columns whose times are past when they are written, as opposed to due and expiry times. */
const PAST = new Set([
  ...['at_ms', 'created_at_ms', 'registered_at_ms', 'linked_at_ms', 'first_seen_at_ms'],
  ...['last_seen_at_ms', 'checked_in_at_ms', 'began_at_ms', 'finished_at_ms', 'ended_at_ms'],
  ...['replaced_at_ms', 'refused_at_ms'],
]);

/** Reads a file. Throws `OperatorError`, or SQLite's error, if it is not a Gatepost database. */
function read(file: string, hostsOf: HostsOf): FileFacts {
  const schema = inspect(file);
  const native = openToLook(file);
  const db = new Connection(native);
  try {
    native.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const foreign = findForeignSchema(native, schema);
    const damage = findDamage(native, 'quick_check');
    if (damage !== null) return { schema, foreign, damage, newestMs: null, contents: NO_CONTENTS };
    const isCurrent = schema === SCHEMA_VERSION;
    const contents = runNow(surveyContents(sqliteStatements(db), hostsOf, isCurrent));
    return { schema, foreign, damage, newestMs: newestTime(native), contents };
  } finally {
    db.close();
  }
}

/** Returns the latest time in the file; null: none. */
function newestTime(db: Database): number | null {
  const times = tableNames(db).flatMap((table) =>
    db
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .filter(({ name }) => PAST.has(name))
      .map(({ name }) => `SELECT max("${name}") AS ms FROM "${table}"`),
  );
  if (times.length === 0) return null;
  const newest = `SELECT max(ms) AS ms FROM (${times.join(' UNION ALL ')})`;
  return db.query<{ ms: number | null }, []>(newest).get()?.ms ?? null;
}

/** The check of the database: whether it opens, is whole, and its log stays small. */

import type { Database } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hostHash } from '../../../core/host-name.ts';
import { DOMAIN_ACTIVE } from '../../../core/port/domain.ts';
import { DISABLED_BY_OWNER } from '../../../core/port/webhook.ts';
import { mib } from '../../../disk/room.ts';
import { about, type Finding } from '../../../finding.ts';
import { messageOf } from '../../../operator-error.ts';
import { type DisabledWebhook, disabledFinding, olderSchemaFinding } from '../../findings.ts';
import type { BoundHost, DatabaseReport, HostOfProvider } from '../../kind.ts';
import { findDamage, tableNames } from './copy.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { DATABASE_FILE, inspect, openToLook } from './open.ts';
import { findForeignSchema } from './shape.ts';

const say = about('database');
/** Size of the log that one long transaction or a backup does not reach, bytes. */
const WAL_BYTES_MAX = 1024 ** 3;

/** Looks at the database of `dataDir` for a diagnosis: everything is read, nothing is changed. */
export function surveyDatabase(dataDir: string, asked: readonly HostOfProvider[]): DatabaseReport {
  const file = join(dataDir, DATABASE_FILE);
  const bytes = sizeOf(file);
  const report = (
    findings: Finding[],
    newestMs: number | null = null,
    hosts: BoundHost[] = [],
    pushes: Look['pushes'] = NO_PUSHES,
  ) => ({ findings, newestMs, hosts, ...pushes, bytes });
  if (!existsSync(file)) {
    const todo = "'gatepost serve' makes one, 'gatepost restore' puts a backup there";
    return report([say.warning(`there is no database in ${dataDir}`, todo)]);
  }
  try {
    const { schema, foreign, damage, newestMs, hosts, pushes, disabled } = look(file, asked);
    const findings = [
      ...schemaFindings(schema),
      ...foreignFindings(foreign),
      ...damageFindings(damage),
      ...logFindings(sizeOf(`${file}-wal`)),
      ...disabled.map(disabledFinding),
    ];
    const fine = say.ok(`${file} is whole, schema ${schema}, ${mib(bytes)} MiB`);
    return report(findings.length > 0 ? findings : [fine], newestMs, hosts, pushes);
  } catch (error) {
    const todo =
      "mend the data directory first; if the file is damaged, 'gatepost restore' puts a backup there";
    return report([say.problem(messageOf(error), todo)]);
  }
}

function schemaFindings(schema: number): Finding[] {
  return schema < SCHEMA_VERSION ? [olderSchemaFinding(schema, SCHEMA_VERSION)] : [];
}

/** Warns of a foreign part: it would run with the program's rights, and spoil each backup. */
function foreignFindings(foreign: string | null): Finding[] {
  if (foreign === null) return [];
  const todo = 'stop the server, see who put it there, and drop it with a shell of SQLite';
  return [say.problem(`it has ${foreign}, which is not Gatepost's: no backup is made of it`, todo)];
}

function damageFindings(damage: string | null): Finding[] {
  if (damage === null) return [];
  const todo = "stop the server and put the last good backup in place with 'gatepost restore'";
  return [say.problem(`it is damaged (${damage})`, todo)];
}

function logFindings(walBytes: number): Finding[] {
  if (walBytes <= WAL_BYTES_MAX) return [];
  const todo = 'end what holds it open for long: a shell of SQLite, a backup that hangs';
  return [say.warning(`its write-ahead log has ${mib(walBytes)} MiB`, todo)];
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

interface Look {
  schema: number;
  /** Part of its schema that is not of that version; null: there is none. */
  foreign: string | null;
  /** Damage of the file; null: there is none. */
  damage: string | null;
  /** Latest time at which something happened according to it, UTC ms; null: nothing did. */
  newestMs: number | null;
  /** Hosts that were asked for; empty if it is damaged. */
  hosts: BoundHost[];
  /** None if it is damaged, or has no outbox yet. */
  pushes: Pick<DatabaseReport, 'stopped' | 'hasSubscriptions'>;
  disabled: DisabledWebhook[];
}

const NO_PUSHES: Look['pushes'] = { stopped: [], hasSubscriptions: false };

/** Time to wait for another process, ms. */
const BUSY_TIMEOUT_MS = 5_000;
/** Columns whose times have passed when they are written, as opposed to due and expiry times. */
const PAST = new Set([
  ...['at_ms', 'created_at_ms', 'registered_at_ms', 'linked_at_ms', 'first_seen_at_ms'],
  ...['last_seen_at_ms', 'checked_in_at_ms', 'began_at_ms', 'finished_at_ms', 'ended_at_ms'],
  ...['replaced_at_ms', 'refused_at_ms'],
]);

/** Looks into a file. Throws `OperatorError`, or SQLite's error, when it is no database of ours. */
function look(file: string, asked: readonly HostOfProvider[]): Look {
  const schema = inspect(file);
  const db = openToLook(file);
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const foreign = findForeignSchema(db, schema);
    const damage = findDamage(db, 'quick_check');
    const times = tableNames(db).flatMap((table) =>
      db
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .filter(({ name }) => PAST.has(name))
        .map(({ name }) => `SELECT max("${name}") AS ms FROM "${table}"`),
    );
    const newest =
      damage === null && times.length > 0
        ? db
            .query<{ ms: number | null }, []>(
              `SELECT max(ms) AS ms FROM (${times.join(' UNION ALL ')})`,
            )
            .get()
        : null;
    const hosts = damage === null ? asked.map((host) => lookUp(db, host)) : [];
    const hasOutbox = damage === null && schema === SCHEMA_VERSION;
    const pushes = hasOutbox ? findPushes(db) : NO_PUSHES;
    const disabled = hasOutbox ? findDisabled(db) : [];
    return { schema, foreign, damage, newestMs: newest?.ms ?? null, hosts, pushes, disabled };
  } finally {
    db.close();
  }
}

function findPushes(db: Database): Look['pushes'] {
  const stopped = db
    .query<DatabaseReport['stopped'][number], []>(
      `SELECT kind AS gateway, coalesce(problem, '') AS problem FROM destination
       WHERE stopped_at_ms IS NOT NULL AND webhook_id IS NULL`,
    )
    .all();
  const subscription = db
    .query("SELECT 1 FROM device_token WHERE push ->> '$.gateway' = 'webpush' LIMIT 1")
    .get();
  return { stopped, hasSubscriptions: subscription !== null };
}

function findDisabled(db: Database): DisabledWebhook[] {
  return db
    .query<DisabledWebhook, []>(
      `SELECT id, disabled_why AS why FROM webhook
       WHERE provider_id IS NULL AND disabled_why <> '${DISABLED_BY_OWNER}' ORDER BY id`,
    )
    .all();
}

function lookUp(db: Database, { host, provider }: HostOfProvider): BoundHost {
  const found = db
    .query<{ status: number | null }, [string, string]>(
      `SELECT d.status FROM provider p
       LEFT JOIN domain d ON d.provider_id = p.id AND d.domain_hash = ?1 WHERE p.code = ?2`,
    )
    .get(hostHash(host), provider);
  if (found === null) return 'provider_not_found';
  if (found.status === null) return 'not_bound';
  return found.status === DOMAIN_ACTIVE ? 'active' : 'disabled';
}

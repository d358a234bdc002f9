/** The doctor's check of a PostgreSQL server: durability, connections, clock, backups. */

import type { SQL } from 'bun';
import type { Clock } from '../../base/clock.ts';
import { about, type Finding } from '../../base/finding.ts';
import { counted } from '../../core/counted.ts';
import type { DatabaseOptions } from './database-options.ts';
import { MAJOR_MIN } from './migrate.ts';

const say = about('postgresql');
/** Differences of clocks: one for a warning, and one at which a node is not ready, ms. */
const CLOCK_WARN_MS = 500;
const CLOCK_OFF_MS = 2_000;
/** Connections of a node besides its pools: one for LISTEN, one for an export. */
const BESIDES_COUNT = 2;
/** Connections left for the command line and for people. */
const SPARE_COUNT = 10;

interface Server {
  major: number;
  isStandby: boolean;
  standbyCount: number;
  connectionCount: number;
  isEncrypted: boolean;
  archivedMs: number | null;
  archiveFailedMs: number | null;
  hasOtherCollation: boolean;
  /** Settings of this session by name; times in ms, 0: without limit. */
  settings: Readonly<Record<string, string>>;
}

async function askServer(sql: SQL): Promise<Server> {
  const [server] = (await sql`
    SELECT (current_setting('server_version_num')::int / 10000)::int AS major,
      pg_is_in_recovery() AS "isStandby",
      (SELECT count(*)::int FROM pg_stat_replication) AS "standbyCount",
      (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend')
        AS "connectionCount",
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
      (SELECT extract(epoch FROM last_archived_time)::float8 * 1000 FROM pg_stat_archiver)
        AS "archivedMs",
      (SELECT extract(epoch FROM last_failed_time)::float8 * 1000 FROM pg_stat_archiver)
        AS "archiveFailedMs",
      coalesce(datcollversion <> pg_database_collation_actual_version(oid), false)
        AS "hasOtherCollation",
      (SELECT json_object_agg(name, setting) FROM pg_settings) AS settings
    FROM pg_database WHERE datname = current_database()`) as Server[];
  if (server === undefined) throw new Error('the server knows no database');
  return server;
}

/** Measures how far the server's clock is ahead of this machine's, ms. */
async function clockOffset(sql: SQL, clock: Clock): Promise<number> {
  const beforeMs = clock.nowMs();
  const [row] = (await sql`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`) as { nowMs: number }[];
  return Math.round((row?.nowMs ?? beforeMs) - (beforeMs + clock.nowMs()) / 2);
}

/** Checks the server. `nodeCount`: nodes that serve now. */
export async function surveyServer(
  sql: SQL,
  place: DatabaseOptions,
  nodeCount: number,
  clock: Clock,
): Promise<Finding[]> {
  const server = await askServer(sql);
  const findings = [
    ...versionFindings(server),
    ...durabilityFindings(server),
    standbyFinding(server),
    wayFinding(server, place),
    connectionFinding(server, place, Math.max(1, nodeCount)),
    place.isPooled ? poolerFinding(server, place) : null,
    backupFinding(server),
    clockFinding(await clockOffset(sql, clock)),
  ].filter((finding) => finding !== null);
  if (findings.some(({ level }) => level !== 'ok')) return findings;
  const way = server.isEncrypted ? 'over TLS' : 'without TLS';
  const version = server.settings['server_version'];
  return [say.ok(`${version} answers ${way}, and keeps what it says`), ...findings];
}

function versionFindings({ major, settings, hasOtherCollation }: Server): (Finding | null)[] {
  const { server_version: version, server_encoding: encoding } = settings;
  const newer = `move to PostgreSQL ${MAJOR_MIN} or newer`;
  // Gatepost's own columns compare bytes, so no index of its own is in doubt.
  const refresh = 'ALTER DATABASE … REFRESH COLLATION VERSION, once others in it are reindexed';
  const collation = "the system's collation is another than when it was made";
  return [
    major < MAJOR_MIN
      ? say.problem('postgres_too_old', `it is PostgreSQL ${version}`, newer)
      : null,
    encoding === 'UTF8'
      ? null
      : say.problem(
          'postgres_encoding',
          `its encoding is ${encoding}`,
          "make a database with ENCODING 'UTF8'",
        ),
    hasOtherCollation ? say.warning('postgres_collation', collation, refresh) : null,
  ];
}

/** Settings without which a crash loses something, and what. */
const LOSSES = [
  ['fsync', 'a crash of its machine destroys the database'],
  ['full_page_writes', 'a crash of its machine destroys the database'],
  ['synchronous_commit', 'a crash loses what was answered as saved'],
] as const;

function durabilityFindings({ settings }: Server): Finding[] {
  const findings = LOSSES.filter(([name]) => settings[name] === 'off').map(([name, loss]) =>
    say.problem('postgres_not_durable', `${name} is off: ${loss}`, `set ${name} = on`),
  );
  if (settings['data_checksums'] !== 'off') return findings;
  const todo = "stop it and run 'pg_checksums --enable'";
  return [
    ...findings,
    say.warning(
      'postgres_no_checksums',
      'it has no data checksums: damage on disk goes unnoticed',
      todo,
    ),
  ];
}

function standbyFinding({ isStandby, standbyCount, settings }: Server): Finding | null {
  const { synchronous_standby_names: standbys, synchronous_commit: commit } = settings;
  if (isStandby) {
    const todo = 'name the address behind which the present leader answers';
    return say.problem('postgres_standby', 'it is a standby, which takes no writes', todo);
  }
  if (standbyCount === 0) return null;
  if (standbys !== '' && commit !== 'local') return say.ok(`a commit waits for ${standbys}`);
  const what = 'its standbys are asynchronous: a failover loses what was answered as saved';
  return say.warning(
    'postgres_asynchronous',
    what,
    'name one standby in synchronous_standby_names',
  );
}

function wayFinding({ isEncrypted }: Server, { host, socket, tls }: DatabaseOptions) {
  const isNear = socket !== null || /^(localhost|127\..*|::1)$/.test(host);
  if (isNear || (tls !== null && isEncrypted)) return null;
  const todo = 'take database.insecure out, and give database.ca_file';
  return say.warning(
    'postgres_in_clear',
    'passwords and keys cross the network in the clear',
    todo,
  );
}

function connectionFinding(
  { connectionCount, settings }: Server,
  place: DatabaseOptions,
  nodes: number,
) {
  const reserved = Number(settings['superuser_reserved_connections']);
  const countMax = Number(settings['max_connections']) - reserved;
  const perNode = place.connections + BESIDES_COUNT;
  const needed = nodes * perNode + SPARE_COUNT;
  // Behind a pooler the pooler manages the server's connections.
  if (place.isPooled || needed <= countMax) {
    return say.ok(`${connectionCount} of ${countMax} connections are taken`);
  }
  const what = `${counted(nodes, 'node')} with ${counted(perNode, 'connection')} each, and ${SPARE_COUNT} to spare, need ${needed}; it takes ${countMax}`;
  return say.warning(
    'postgres_connections',
    what,
    'raise max_connections, or lower database.connections',
  );
}

/** Behind a pooler a node cannot set timeouts, so the role must have them. */
function poolerFinding({ settings }: Server, { user, statementMs }: DatabaseOptions) {
  const timeoutMs = Number(settings['statement_timeout']);
  const idle = 'idle_in_transaction_session_timeout';
  const isUtc = /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/.test(settings['TimeZone'] ?? '');
  const wanted: readonly (readonly [setting: string, value: string, isSet: boolean])[] = [
    ['statement_timeout', `${statementMs / 1_000}s`, timeoutMs > 0 && timeoutMs <= statementMs],
    ['lock_timeout', '5s', settings['lock_timeout'] !== '0'],
    [idle, '5s', settings[idle] !== '0'],
    ['timezone', 'UTC', isUtc],
  ];
  const missing = wanted.filter(([, , isSet]) => !isSet);
  if (missing.length === 0) return null;
  const what = `behind the pooler nothing sets ${missing.map(([name]) => name).join(', ')}: a statement that hangs holds its connection, and what it locked`;
  const todo = missing.map(([name, value]) => `ALTER ROLE ${user} SET ${name} = '${value}'`);
  return say.warning('postgres_pooler', what, `${todo.join('; ')}; then reconnect the pooler`);
}

function backupFinding({ settings, archivedMs, archiveFailedMs }: Server): Finding {
  if (archiveFailedMs !== null && archiveFailedMs > (archivedMs ?? 0)) {
    const what = `its last archiving of a log failed, at ${instant(archiveFailedMs)}`;
    return say.problem(
      'postgres_archiving_failed',
      what,
      "look into PostgreSQL's log; its disk fills up meanwhile",
    );
  }
  if (settings['archive_mode'] === 'off') {
    const todo = 'make backups with pg_dump, or archive its logs (archive_mode = on)';
    return say.warning(
      'postgres_no_archive',
      'it archives no log: it cannot be brought back to any moment',
      todo,
    );
  }
  const last = archivedMs === null ? 'none yet' : `the last at ${instant(archivedMs)}`;
  return say.ok(`it archives its logs: ${last}`);
}

function clockFinding(offsetMs: number): Finding | null {
  const awayMs = Math.abs(offsetMs);
  if (awayMs <= CLOCK_WARN_MS) return null;
  const seconds = `${awayMs / 1000} s ${offsetMs > 0 ? 'ahead of' : 'behind'}`;
  const level = awayMs > CLOCK_OFF_MS ? 'problem' : 'warning';
  return say[level](
    'postgres_clock',
    `its clock is ${seconds} this machine's`,
    'have both set by NTP',
  );
}

const instant = (epochMs: number) => `${new Date(epochMs).toISOString().slice(0, 19)}Z`;

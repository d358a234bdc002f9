/** The doctor's check of a PostgreSQL server: durability, connections, clock, backups. */

import type { SQL } from 'bun';
import type { Clock } from '../../clock.ts';
import { about, type Finding } from '../../finding.ts';
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
    ...standbyFindings(server),
    ...wayFindings(server, place),
    ...connectionFindings(server, place, nodeCount),
    ...poolerFindings(server, place),
    ...backupFindings(server),
    ...clockFindings(await clockOffset(sql, clock)),
  ];
  const isFine = findings.every(({ level }) => level === 'ok');
  const way = server.isEncrypted ? 'over TLS' : 'without TLS';
  const fine = say.ok(
    `${server.settings['server_version']} answers ${way}, and keeps what it says`,
  );
  return isFine ? [fine, ...findings] : findings;
}

function versionFindings({ major, settings, hasOtherCollation }: Server): Finding[] {
  const { server_version: version, server_encoding: encoding } = settings;
  const findings: Finding[] = [];
  if (major < MAJOR_MIN) {
    const todo = `move to PostgreSQL ${MAJOR_MIN} or newer`;
    findings.push(say.problem(`it is PostgreSQL ${version}`, todo));
  }
  if (encoding !== 'UTF8') {
    const todo = "make a database with ENCODING 'UTF8'";
    findings.push(say.problem(`its encoding is ${encoding}`, todo));
  }
  if (hasOtherCollation) {
    // Gatepost's own columns compare bytes, so its indexes stay valid.
    const todo = 'ALTER DATABASE … REFRESH COLLATION VERSION, once others in it are reindexed';
    findings.push(say.warning("the system's collation is another than when it was made", todo));
  }
  return findings;
}

function durabilityFindings({ settings }: Server): Finding[] {
  const findings: Finding[] = [];
  for (const setting of ['fsync', 'full_page_writes']) {
    if (settings[setting] === 'on') continue;
    const what = `${setting} is ${settings[setting]}: a crash of its machine destroys the database`;
    findings.push(say.problem(what, `set ${setting} = on`));
  }
  if (settings['synchronous_commit'] === 'off') {
    const what = 'synchronous_commit is off: a crash loses what was answered as saved';
    findings.push(say.problem(what, 'set synchronous_commit = on'));
  }
  if (settings['data_checksums'] === 'off') {
    const todo = "stop it and run 'pg_checksums --enable'";
    findings.push(say.warning('it has no data checksums: damage on disk goes unnoticed', todo));
  }
  return findings;
}

function standbyFindings({ isStandby, standbyCount, settings }: Server): Finding[] {
  const { synchronous_standby_names: standbys, synchronous_commit: commit } = settings;
  if (isStandby) {
    const todo = 'name the address behind which the present leader answers';
    return [say.problem('it is a standby, which takes no writes', todo)];
  }
  if (standbyCount === 0) return [];
  if (standbys === '' || commit === 'local') {
    const todo = 'name one standby in synchronous_standby_names';
    const what = 'its standbys are asynchronous: a failover loses what was answered as saved';
    return [say.warning(what, todo)];
  }
  return [say.ok(`a commit waits for ${standbys}`)];
}

function wayFindings({ isEncrypted }: Server, { host, socket, tls }: DatabaseOptions): Finding[] {
  const isNear = socket !== null || /^(localhost|127\..*|::1)$/.test(host);
  if (isNear || (tls !== null && isEncrypted)) return [];
  const todo = 'take database.insecure out, and give database.ca_file';
  return [say.warning('passwords and keys cross the network in the clear', todo)];
}

function connectionFindings(server: Server, place: DatabaseOptions, nodeCount: number): Finding[] {
  const { connectionCount, settings } = server;
  const reserved = Number(settings['superuser_reserved_connections']);
  const connectionCountMax = Number(settings['max_connections']) - reserved;
  const perNode = place.connections + BESIDES_COUNT;
  const nodes = Math.max(1, nodeCount);
  const needed = nodes * perNode + SPARE_COUNT;
  // Behind a pooler the pooler manages the server's connections.
  if (place.isPooled || needed <= connectionCountMax) {
    return [say.ok(`${connectionCount} of ${connectionCountMax} connections are taken`)];
  }
  const what = `${nodes} nodes with ${perNode} connections each, and ${SPARE_COUNT} to spare, are ${needed}; it takes ${connectionCountMax}`;
  return [say.warning(what, 'raise max_connections, or lower database.connections')];
}

/** Behind a pooler a node cannot set timeouts, so the role must have them. */
function poolerFindings(
  server: Server,
  { isPooled, user, statementMs }: DatabaseOptions,
): Finding[] {
  if (!isPooled) return [];
  const idle = 'idle_in_transaction_session_timeout';
  const timeoutMs = Number(server.settings['statement_timeout']);
  const isEndless = (setting: string) => server.settings[setting] === '0';
  const missing = [
    timeoutMs === 0 || timeoutMs > statementMs
      ? ['statement_timeout', `${statementMs / 1_000}s`]
      : null,
    isEndless('lock_timeout') ? ['lock_timeout', '5s'] : null,
    isEndless(idle) ? [idle, '5s'] : null,
    /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/.test(server.settings['TimeZone'] ?? '')
      ? null
      : ['timezone', 'UTC'],
  ].filter((setting) => setting !== null);
  if (missing.length === 0) return [];
  const what = `behind the pooler nothing sets ${missing.map(([name]) => name).join(', ')}: a statement that hangs holds its connection, and what it locked`;
  const todo = missing.map(([name, value]) => `ALTER ROLE ${user} SET ${name} = '${value}'`);
  return [say.warning(what, `${todo.join('; ')}; then reconnect the pooler`)];
}

function backupFindings({ settings, archivedMs, archiveFailedMs }: Server): Finding[] {
  if (archiveFailedMs !== null && archiveFailedMs > (archivedMs ?? 0)) {
    const what = `its last archiving of a log failed, at ${instant(archiveFailedMs)}`;
    return [say.problem(what, "look into PostgreSQL's log; its disk fills up meanwhile")];
  }
  if (settings['archive_mode'] === 'off') {
    const todo = 'make backups with pg_dump, or archive its logs (archive_mode = on)';
    return [say.warning('it archives no log: it cannot be brought back to any moment', todo)];
  }
  const last = archivedMs === null ? 'none yet' : `the last at ${instant(archivedMs)}`;
  return [say.ok(`it archives its logs: ${last}`)];
}

function clockFindings(offsetMs: number): Finding[] {
  const seconds = `${Math.abs(offsetMs) / 1000} s ${offsetMs > 0 ? 'ahead of' : 'behind'}`;
  const what = `its clock is ${seconds} this machine's`;
  const todo = 'have both set by NTP';
  if (Math.abs(offsetMs) > CLOCK_OFF_MS) return [say.problem(what, todo)];
  return Math.abs(offsetMs) > CLOCK_WARN_MS ? [say.warning(what, todo)] : [];
}

function instant(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

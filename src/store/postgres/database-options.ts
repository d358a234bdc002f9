/** The connection to the database as configured by the operator, and as options of Bun.SQL. */

import type { SQL } from 'bun';
import type { Unfitness } from '../../core/port/health.ts';
import type { StoreOptions } from '../kind.ts';
import type { Runner } from './statement.ts';

/** Longest wait for a lock, and for the next statement of a transaction, ms. */
const LOCK_WAIT_MS = 5_000;
/** Longest wait for a new connection, s. */
const CONNECT_SECONDS = 3;

/** States of the database in which this program must not use it. */
export type Ban = Extract<Unfitness, 'schema_newer' | 'database_moved'>;

interface DatabaseTls {
  /** Authorities in PEM; null: the public ones. */
  ca: string | null;
  /** True: the certificate must be for the configured host. */
  isNameChecked: boolean;
}

type Observers = Pick<StoreOptions, 'onAway' | 'onBack' | 'onTrouble' | 'onStatement' | 'onRetry'>;

export interface DatabaseOptions extends Observers {
  host: string;
  port: number;
  /** Directory of the server's socket, instead of its host; null: none. */
  socket: string | null;
  user: string;
  database: string;
  /** Called for each new connection; null: none is needed. */
  password: () => string | null;
  /** Null: without TLS. */
  tls: DatabaseTls | null;
  /** 2 or more. */
  connections: number;
  /** Longest time of one statement, ms. */
  statementMs: number;
  /** True: a pooler in transaction mode is in between, so sessions do not last. */
  isPooled: boolean;
  /** False: without the fast paths of set/; for tests. */
  set?: boolean;
  /** Name of this node. */
  node: string;
  /** Checks for a ban when an outage seems to be over. */
  findBan?: ((on: Runner) => Promise<Ban | null>) | undefined;
}

/** Returns the connections for transactions: half of all. Single statements use the others. */
export const transactionsOf = ({ connections }: DatabaseOptions) => Math.floor(connections / 2);

/**
 * Longest wait of a single statement for a lock before it is sent again, ms: those behind it on its
 * connection wait as long, and must not take it for a silent server.
 */
export const plainLockMs = ({ statementMs }: DatabaseOptions) => Math.ceil(statementMs / 20);

/** Returns options of a pool. All are given, because Bun takes missing ones from PGDATABASE etc. */
export function poolOptions(
  options: DatabaseOptions,
  max: number,
  lockMs = Math.min(LOCK_WAIT_MS, options.statementMs),
): SQL.PostgresOrMySQLOptions {
  const { host, port, socket, user, database, password, tls } = options;
  const { statementMs, isPooled, node } = options;
  const settings = {
    application_name: `gatepost/${node}`,
    statement_timeout: String(statementMs),
    lock_timeout: String(lockMs),
    idle_in_transaction_session_timeout: String(LOCK_WAIT_MS),
    TimeZone: 'UTC',
    // Groups differ in length, so each run would make a new plan …
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    // … and a plan made when a table had one page is still used when it has a million rows.
    enable_seqscan: 'off',
  };
  return {
    adapter: 'postgres',
    hostname: host,
    port,
    username: user,
    database,
    ...(socket === null ? {} : { path: `${socket}/.s.PGSQL.${port}` }),
    password: () => password() ?? '',
    max,
    bigint: true,
    prepare: !isPooled,
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: CONNECT_SECONDS,
    // A pooler in transaction mode refuses unknown settings.
    connection: isPooled ? { application_name: settings.application_name } : settings,
    tls: tls !== null && tlsOptions(tls),
  };
}

function tlsOptions({ ca, isNameChecked }: DatabaseTls): SQL.TLSOptions {
  return {
    // Given, because an environment variable could turn the check off.
    rejectUnauthorized: true,
    ...(ca === null ? {} : { ca }),
    ...(isNameChecked ? {} : { checkServerIdentity: () => undefined }),
  };
}

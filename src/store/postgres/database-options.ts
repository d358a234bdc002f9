/** The way to the database, as the operator configured it, and as Bun.SQL takes it. */

import type { SQL } from 'bun';
import type { Unfitness } from '../../core/port/health.ts';
import type { StoreOptions } from '../kind.ts';
import type { Runner } from './statement.ts';

/** Longest wait for a lock of somebody else, and for a transaction that goes on, ms. */
const LOCK_WAIT_MS = 5_000;
/** Longest wait for a connection to be made, s. */
const CONNECT_SECONDS = 3;

/** Reasons in the database itself why this program must leave it alone. */
export type Ban = Extract<Unfitness, 'schema_newer' | 'database_moved'>;

export interface DatabaseTls {
  /** Authorities in PEM; null: the public ones. */
  ca: string | null;
  /** Whether the server must have the name that it is called by. */
  isNameChecked: boolean;
}

export interface DatabaseOptions {
  host: string;
  port: number;
  /** Directory of the server's socket, in place of its host; null: none. */
  socket: string | null;
  user: string;
  database: string;
  /** Asked for each new connection; null: none is needed. */
  password: () => string | null;
  /** Null: without TLS. */
  tls: DatabaseTls | null;
  /** 2 or more. */
  connections: number;
  /** Longest time of one statement, ms. */
  statementMs: number;
  /** True: a pooler in transaction mode is between, so nothing lasts beyond a transaction. */
  isPooled: boolean;
  /** False: without the fast paths of set/, which tests switch off. */
  set?: boolean;
  /** Name of this node. */
  node: string;
  /** Hears once of each outage, and of its end: how long it was, and how many calls it refused. */
  onAway?: ((problem: string) => void) | undefined;
  onBack?: ((awayMs: number, refusedCount: number) => void) | undefined;
  /** Looks for a reason to refuse all calls, once an outage seems over. */
  findBan?: ((on: Runner) => Promise<Ban | null>) | undefined;
  onStatement?: StoreOptions['onStatement'] | undefined;
  onRetry?: StoreOptions['onRetry'] | undefined;
}

/** Half of the connections are for transactions: nothing that is one statement waits for them. */
export const transactionsOf = ({ connections }: DatabaseOptions) => Math.floor(connections / 2);

/**
 * Options of a pool of Bun.SQL. All that may be said is said: what is missing is taken from
 * PGDATABASE and its like.
 */
export function poolOptions(options: DatabaseOptions, max: number): SQL.PostgresOrMySQLOptions {
  const { host, port, socket, user, database, password, tls } = options;
  const { statementMs, isPooled, node } = options;
  const settings = {
    application_name: `gatepost/${node}`,
    statement_timeout: String(statementMs),
    lock_timeout: String(Math.min(LOCK_WAIT_MS, statementMs)),
    idle_in_transaction_session_timeout: String(LOCK_WAIT_MS),
    TimeZone: 'UTC',
    // Groups differ in length, so a plan for each would be made anew at each run …
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    // … and one that is made while a table has one page is kept when it has a million rows.
    enable_seqscan: 'off',
  };
  return {
    adapter: 'postgres',
    ...{ hostname: host, port, username: user, database },
    ...(socket === null ? {} : { path: `${socket}/.s.PGSQL.${port}` }),
    password: () => password() ?? '',
    max,
    bigint: true,
    prepare: !isPooled,
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: CONNECT_SECONDS,
    // A pooler in transaction mode refuses what it does not know.
    connection: isPooled ? { application_name: settings.application_name } : settings,
    tls: tls !== null && tlsOptions(tls),
  };
}

function tlsOptions({ ca, isNameChecked }: DatabaseTls): SQL.TLSOptions {
  return {
    // Said, as a variable of the environment could turn the check off.
    rejectUnauthorized: true,
    ...(ca === null ? {} : { ca }),
    ...(isNameChecked ? {} : { checkServerIdentity: () => undefined }),
  };
}

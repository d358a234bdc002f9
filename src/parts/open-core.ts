/** Opens the core on its data: a file on this machine, or PostgreSQL. */

import { hostname } from 'node:os';
import { messageOf, OperatorError, UsageError } from '../base/operator-error.ts';
import { firstLineOfSecret, makeOwnFolder, refuseOpenData } from '../base/permissions.ts';
import { databaseConflicts } from '../config/conflicts.ts';
import {
  type DatabaseUrl,
  isOnThisMachine,
  databaseUrl as readDatabaseUrl,
} from '../config/database-url.ts';
import type { Config } from '../config/settings/index.ts';
import { mergeUpstreams } from '../config/upstreams.ts';
import { SYSTEM } from '../core/audit/entry.ts';
import type { Core } from '../core/core.ts';
import { RIDE_LEVELS, type RideRules } from '../core/port/ride.ts';
import { Signals } from '../core/signals.ts';
import { Tallies } from '../monitor/tallies.ts';
import { readAuthorities } from '../outgoing/authorities.ts';
import type { StoreKind, StoreOptions } from '../store/kind.ts';
import type { Move } from '../store/move/job.ts';
import type { DatabaseOptions } from '../store/postgres/database-options.ts';
import { postgresKind } from '../store/postgres/kind.ts';
import { SQLITE } from '../store/sqlite/kind.ts';
import type { LiveGateways } from './live-gateways.ts';

/** Returns the kind of store; no other file chooses it. */
export function storeKindOf(config: Config): StoreKind {
  const { databaseUrl: url } = config;
  return url === null ? SQLITE : postgresKind(() => placeOf(config, url));
}

/** Returns the address of a PostgreSQL database. Throws `OperatorError` for an invalid file. */
function placeOf(config: Config, url: NonNullable<Config['databaseUrl']>): DatabaseOptions {
  const { host, port, socket, user, database } = url;
  const { databaseCaFile, databaseInsecure, databasePasswordFile: passwordFile } = config;
  const isTls =
    url.wantsTls ?? (databaseCaFile !== '' || !(isOnThisMachine(url) || databaseInsecure));
  const password = () => (passwordFile === '' ? url.password : passwordIn(passwordFile));
  password();
  return {
    host,
    port,
    socket,
    user,
    database,
    password,
    tls: isTls
      ? {
          ca: readAuthorities(databaseCaFile, 'database.ca_file'),
          isNameChecked: url.isNameChecked,
        }
      : null,
    connections: config.databaseConnections,
    statementMs: config.databaseStatementSeconds * 1_000,
    isPooled: config.databasePooler,
    node: nodeNameOf(config),
  };
}

/**
 * Returns the move of all data to the PostgreSQL database of a URL, by the other settings of
 * `[database]`, or (`sqlite`) from there into the data directory. Throws `OperatorError` if the
 * data is already there.
 */
export function moveOf(config: Config, place: string): Move {
  const { dataDir, databaseUrl } = config;
  if (place === 'sqlite') {
    if (databaseUrl === null) {
      throw new OperatorError(`the data is in ${dataDir} already: database.url is not set`);
    }
    const from = placeOf(config, databaseUrl);
    // Loaded late: see postgres/kind.ts.
    return async (job) =>
      (await import('../store/move/to-file.ts')).moveToFile({ dataDir, place: from }, job);
  }
  if (databaseUrl !== null) {
    throw new OperatorError(
      'the data is in PostgreSQL already: remove database.url if it is in the data directory',
    );
  }
  const to = urlOf(place);
  const conflicts = databaseConflicts({ ...config, databaseUrl: to });
  if (conflicts.length > 0) throw new OperatorError(conflicts.join('; '), 'config_invalid');
  const server = placeOf(config, to);
  return async (job) =>
    (await import('../store/move/to-server.ts')).moveToServer({ dataDir, place: server }, job);
}

function urlOf(text: string): DatabaseUrl {
  try {
    const url = readDatabaseUrl(text);
    if (url !== null) return url;
  } catch (error) {
    throw new UsageError(`--to: ${messageOf(error)}`);
  }
  throw new UsageError('--to is the URL of a database, or sqlite');
}

/** Returns the name of this node among those of a database. */
export function nodeNameOf({ databaseNode }: Config): string {
  return databaseNode || hostname().slice(0, 63);
}

function passwordIn(file: string): string {
  try {
    return firstLineOfSecret(file);
  } catch (error) {
    throw new OperatorError(`database.password_file: ${messageOf(error)}`);
  }
}

/** Observers of migrations and outages, the wait for the database, and the guard of the clock. */
type StartObservers = Pick<
  StoreOptions,
  'leastMs' | 'onMigration' | 'onAway' | 'onBack' | 'onTrouble' | 'onWebhookDisabled' | 'waiting'
>;

/**
 * Opens the core; only the server migrates an old database. Throws `OperatorError` if the data
 * cannot be opened or other users may read it.
 */
export async function openCore(
  config: Config,
  create: boolean,
  migrates = false,
  tallies = new Tallies(),
  gateways: Pick<LiveGateways, 'names' | 'pushKey'> = { names: () => [], pushKey: () => null },
  start: StartObservers = {},
): Promise<Core> {
  const { dataDir, commitBatchMax } = config;
  refuseOpenData(dataDir, create);
  // A store on PostgreSQL does not make it; the node keeps other files there.
  if (config.databaseUrl !== null && migrates) makeOwnFolder(dataDir);
  const { onCommit, onFigure, onDistributionEnd, onStatement, onRetry, onSignal } = tallies;
  const signals = new Signals();
  const onOutbox = () => signals.outboxFilled();
  const onEnded = (deviceIds: readonly number[]) => signals.endedFor(deviceIds);
  const observers = {
    onCommit,
    onFigure,
    onOutbox,
    onEnded,
    onDistributionEnd,
    onStatement,
    onRetry,
    onSignal,
    ...start,
  };
  const kind = storeKindOf(config);
  const store = await kind.open({ dataDir, create, migrates, commitBatchMax, ...observers });
  const gateUpstreams = mergeUpstreams(config.gateUpstreams, await store.listUpstreams());
  Object.assign(config, { gateUpstreams });
  return {
    store: tallies.counting(store),
    signals,
    actor: () => SYSTEM,
    // Not a copy: a reload changes the settings.
    limits: config,
    gateways: gateways.names,
    rides: () => ridesOf(config),
    leastMs: start.leastMs ?? ((atMs) => atMs),
    pushKey: gateways.pushKey,
  };
}

/** Returns the highest level of rides over all ways to a panel. */
function ridesOf({ gateRide, gateUpstreams, rideHours: hours }: Config): RideRules {
  const levels = [gateRide, ...gateUpstreams.map(({ ride }) => ride)];
  return { level: RIDE_LEVELS.findLast((level) => levels.includes(level)) ?? 'off', hours };
}

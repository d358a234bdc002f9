/** Opens the product on its data: in a file of this machine, or on PostgreSQL. */

import { hostname } from 'node:os';
import { databaseConflicts } from './config/conflicts.ts';
import {
  type DatabaseUrl,
  isOnThisMachine,
  databaseUrl as readDatabaseUrl,
} from './config/database-url.ts';
import type { Config } from './config/settings/index.ts';
import { SYSTEM } from './core/audit/entry.ts';
import type { Core } from './core/core.ts';
import { Signals } from './core/signals.ts';
import type { LiveGateways } from './live-gateways.ts';
import { Tallies } from './monitor/tallies.ts';
import { messageOf, OperatorError, UsageError } from './operator-error.ts';
import { readAuthorities } from './outgoing/authorities.ts';
import { makeOwnFolder, readSecretFile, refuseOpenData } from './permissions.ts';
import type { StoreKind, StoreOptions } from './store/kind.ts';
import type { Move } from './store/move/job.ts';
import type { DatabaseOptions } from './store/postgres/database-options.ts';
import { postgresKind } from './store/postgres/kind.ts';
import { SQLITE } from './store/sqlite/kind.ts';

/** The kind of store that holds the data: no other file chooses one. */
export function storeKindOf(config: Config): StoreKind {
  const { databaseUrl: url } = config;
  return url === null ? SQLITE : postgresKind(() => placeOf(config, url));
}

/** The way to a PostgreSQL database. Throws `OperatorError` if a file that it needs is wrong. */
export function placeOf(config: Config, url: NonNullable<Config['databaseUrl']>): DatabaseOptions {
  const { host, port, socket, user, database } = url;
  const { databaseCaFile, databaseInsecure, databasePasswordFile: passwordFile } = config;
  const isTls =
    url.wantsTls ?? (databaseCaFile !== '' || !(isOnThisMachine(url) || databaseInsecure));
  const password = () => (passwordFile === '' ? url.password : firstLineOf(passwordFile));
  password();
  return {
    ...{ host, port, socket, user, database, password },
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
 * The move of all data to the PostgreSQL database of a URL, which the other settings of
 * `[database]` reach, or (`sqlite`) from there into the data directory. Throws `OperatorError` if
 * it makes no sense.
 */
export function moveOf(config: Config, place: string): Move {
  const { dataDir, databaseUrl } = config;
  if (place === 'sqlite') {
    if (databaseUrl === null) {
      throw new OperatorError(`the data lie in ${dataDir} already: database.url is not set`);
    }
    const from = placeOf(config, databaseUrl);
    // Only now: see postgres/kind.ts.
    return async (job) =>
      (await import('./store/move/to-file.ts')).moveToFile({ dataDir, place: from }, job);
  }
  if (databaseUrl !== null) {
    throw new OperatorError(
      'the data lie in PostgreSQL already: take out database.url if they lie in the data directory',
    );
  }
  const to = urlOf(place);
  const conflicts = databaseConflicts({ ...config, databaseUrl: to });
  if (conflicts.length > 0) throw new OperatorError(conflicts.join('; '), 'config_invalid');
  const server = placeOf(config, to);
  return async (job) =>
    (await import('./store/move/to-server.ts')).moveToServer({ dataDir, place: server }, job);
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

/** The name of this node among those that share a database. */
export function nodeNameOf({ databaseNode }: Config): string {
  return databaseNode || hostname().slice(0, 63);
}

function firstLineOf(file: string): string {
  const read = readSecretFile(file);
  if ('problem' in read) throw new OperatorError(`database.password_file: ${read.problem}`);
  const [line = ''] = read.text.split(/\r?\n/);
  if (line !== '') return line;
  throw new OperatorError(`database.password_file: the first line of ${file} is empty`);
}

/** Who hears of the store's outages, and for how long it is waited for at the start. */
export type OutageObservers = Pick<StoreOptions, 'onAway' | 'onBack' | 'waiting'>;

/**
 * Opens the product. An old database is migrated by the server alone. Throws `OperatorError` when
 * the data cannot be opened, or others may read it.
 */
export async function openCore(
  config: Config,
  create: boolean,
  migrates = false,
  tallies = new Tallies(),
  gateways: Pick<LiveGateways, 'names' | 'pushKey'> = { names: () => [], pushKey: () => null },
  outages: OutageObservers = {},
): Promise<Core> {
  const { dataDir, commitBatchMax } = config;
  refuseOpenData(dataDir, create);
  // The store makes it if the data is there: what else a server keeps is the node's own.
  if (config.databaseUrl !== null && migrates) makeOwnFolder(dataDir);
  const { onCommit, onFigure, onDistributionEnd, onStatement, onRetry, onSignal } = tallies;
  const signals = new Signals();
  const onOutbox = () => signals.outboxFilled();
  const observers = {
    ...{ onCommit, onFigure, onOutbox, onDistributionEnd, onStatement, onRetry, onSignal },
    ...outages,
  };
  const kind = storeKindOf(config);
  const store = await kind.open({ dataDir, create, migrates, commitBatchMax, ...observers });
  return {
    store: tallies.counting(store),
    signals,
    actor: () => SYSTEM,
    // Not a copy: the settings may change in flight.
    limits: config,
    gateways: gateways.names,
    pushKey: gateways.pushKey,
  };
}

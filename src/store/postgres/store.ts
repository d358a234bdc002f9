/** The store on PostgreSQL, for any number of nodes on one database. */

import { systemClock } from '../../base/clock.ts';
import type { Store } from '../../core/port/store.ts';
import type { StoreOptions } from '../kind.ts';
import { FigureCounter } from '../noun/figure-counter.ts';
import { nounsOf } from '../noun/nouns.ts';
import { postgresBackend } from './backend.ts';
import { Database } from './database.ts';
import { DatabaseClock } from './database-clock.ts';
import { type DatabaseOptions, poolOptions } from './database-options.ts';
import { exportStore } from './export.ts';
import { healthStore } from './health.ts';
import { findBan, migrate, withConnection } from './migrate.ts';
import { nodeStore, type Self } from './node.ts';
import { openPatiently } from './opening.ts';
import { continueAs, onBehalfOf } from './party.ts';
import { Sealer } from './sealer.ts';
import { acceptanceInGroups } from './set/acceptance.ts';
import { acknowledgementsInGroups } from './set/acknowledgement.ts';
import { addLinksTogether } from './set/addition.ts';
import { admitTogether } from './set/admission.ts';
import { checkInsInGroups } from './set/check-in.ts';
import { inboxesInGroups } from './set/inbox.ts';
import { lookUps } from './set/look-ups.ts';
import { sightingsInGroups } from './set/sighting.ts';
import { Signals } from './signals.ts';
import { Watching } from './watch.ts';
import type { Context } from './write.ts';
import { NOTES, write } from './write.ts';

/** Opens the store. Throws `OperatorError` with the reason when it cannot. */
export async function openPostgresStore(
  options: StoreOptions,
  database: DatabaseOptions,
): Promise<Store> {
  const { clock = systemClock, create, leastMs = (atMs) => atMs, migrates = create } = options;
  await openPatiently(
    database,
    () =>
      withConnection(poolOptions(database, 1), (ask) =>
        migrate(ask, { create, migrates, onMigration: options.onMigration }),
      ),
    options.waiting,
  );
  const db = new Database({ ...options, ...database, findBan });
  const databaseClock = new DatabaseClock(db, clock);
  try {
    await openPatiently(database, () => databaseClock.measure(), options.waiting);
  } catch (fault) {
    await db.close();
    throw fault;
  }
  const context: Context = {
    db,
    write: (work) => write(context, work),
    figures: new FigureCounter(options.onFigure),
    sealer: new Sealer(db, (work) => context.write(work)),
    signals: new Signals(),
    observers: options,
    clock,
    storeNowMs: () => databaseClock.nowMs(),
    storeMs: (atMs) => databaseClock.of(atMs),
    leastMs,
    statementMs: database.statementMs,
  };
  const watching = new Watching(context);
  const self: Self = { nodeId: null, clock: databaseClock };
  const backend = postgresBackend(context);
  const nouns = nounsOf(backend, {
    figures: context.figures,
    events: NOTES.events,
    seal: () => context.sealer.seal(),
  });
  const store: Partial<Store> = {
    ...nouns,
    ...exportStore(context),
    ...(database.set === false ? {} : fastPathsOf(context, nouns)),
    ...healthStore(context, self),
    ...nodeStore(context, self),
    watch: watching.watch,
    readCommitMark: watching.readCommitMark,
    onBehalfOf,
    continueAs,
    close: async () => {
      watching.close();
      // Figures that cannot be saved must not keep the process alive.
      await nouns.saveFigures().catch(() => undefined);
      await context.sealer.close();
      await db.close();
    },
  };
  return store as Store;
}

/** Serves calls of many callers by one statement. Without it the nouns do the same. */
function fastPathsOf(context: Context, nouns: ReturnType<typeof nounsOf>): Partial<Store> {
  return {
    ...lookUps(context, nouns),
    ...addLinksTogether(context, nouns),
    ...admitTogether(context, nouns),
    ...checkInsInGroups(context, nouns),
    ...sightingsInGroups(context),
    ...inboxesInGroups(context),
    ...acknowledgementsInGroups(context, nouns),
    ...acceptanceInGroups(context, nouns),
  };
}

/** The store on an embedded SQLite database. */

import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { after } from '../../core/port/maybe.ts';
import type { Store } from '../../core/port/store.ts';
import { sameHash } from '../../core/secret.ts';
import type { StoreOptions } from '../kind.ts';
import { FigureCounter } from '../noun/figure-counter.ts';
import { noteStatements, WriteNotes } from '../noun/notes.ts';
import { nounsOf } from '../noun/nouns.ts';
import { AnswerCache } from './answer-cache.ts';
import { AuditChain } from './audit-chain.ts';
import { batchNotes, sqliteBackend } from './backend.ts';
import { Checkpoints } from './checkpoint.ts';
import { Connection } from './connection.ts';
import type { Context } from './context.ts';
import { Done, NOTHING, sqliteStatements } from './dialect.ts';
import { exportStore } from './export.ts';
import { SCHEMA_VERSION } from './file/migrate.ts';
import { LOCK_FILE, olderSchema, openDatabase } from './file/open.ts';
import { healthStore } from './health.ts';
import { lockRequestsBy } from './lock-request.ts';
import { nodeStore, Processes } from './node.ts';
import { WalIndex } from './wal-index.ts';
import { watchStore } from './watch.ts';
import { GroupWriter } from './writer.ts';

/** Longest wait for another process's lock when only figures are left to save, ms. */
const LAST_WAIT_MS = 1_000;

/**
 * Opens the store, synchronously unless it migrates. Throws `OperatorError` with the reason if it
 * fails.
 */
export async function openSqliteStore(options: StoreOptions): Promise<Store> {
  const { dataDir, create, migrates, commitBatchMax, onCommit, onFigure, onOutbox } = options;
  const { clock = systemClock, leastMs = (atMs) => atMs, onDistributionEnd } = options;
  const { onEnded, onMigration, onTrouble, onWebhookDisabled } = options;
  const older = onMigration && (migrates ?? create) ? olderSchema(dataDir, create) : null;
  if (older !== null) await onMigration?.(older, SCHEMA_VERSION);
  const opened = openDatabase(dataDir, create, migrates);
  const index = WalIndex.of(opened.db);
  const db = new Connection(opened.db, index, onTrouble);
  const chain = new AuditChain(db);
  const on = noteStatements(sqliteStatements(db));
  const figures = new FigureCounter(onFigure);
  const notes = new WriteNotes(on, {
    figures,
    addEntries: (entries) => new Done(chain.add(entries)),
    // Another process notices the commit: see watch.ts.
    signal: () => NOTHING,
    onOutbox,
    onDistributionEnd,
    onWebhookDisabled,
    onEnded,
  });
  const requests = lockRequestsBy(join(dataDir, LOCK_FILE));
  const upkeep = index && new Checkpoints(db, () => clock.steadyMs());
  const writer = new GroupWriter(db, commitBatchMax, {
    notes: batchNotes(notes),
    upkeep,
    onCommit,
    requests,
  });
  const context: Context = { db, writer, notes, clock, leastMs };
  const backend = sqliteBackend(context);
  const nouns = nounsOf(backend, { figures, events: on.events, seal: () => undefined });
  const knownProviders = new AnswerCache(db, (code: string) => nouns.findProvider(code));
  // Each wrong key asks for these; few providers have any.
  const knownKeys = new AnswerCache(db, (providerId: number) => nouns.listKeys(providerId));
  const processes = new Processes(context, dataDir);
  return {
    ...nouns,
    findProvider: (code) => knownProviders.get(code),
    findKey: (providerId, keyHash) =>
      after(knownKeys.get(providerId), (keys) => {
        const found = keys.find((key) => sameHash(key.keyHash, keyHash));
        return found ?? null;
      }),
    ...healthStore(context, dataDir),
    ...exportStore(dataDir),
    ...watchStore(context, processes),
    ...nodeStore(processes),
    // Calls wait at the HTTP server, because this database is in the process.
    onBehalfOf: (party, _nameOf, work) => work(party),
    continueAs: () => {},
    close: async () => {
      writer.limitWait();
      await backend.idle();
      await writer.idle();
      writer.limitWait(LAST_WAIT_MS);
      try {
        // Figures that cannot be saved must not keep the process alive.
        await nouns.saveFigures().catch(() => undefined);
        db.close();
      } finally {
        processes.close();
        opened.release();
      }
    },
  };
}

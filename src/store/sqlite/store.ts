/** The store on an embedded SQLite database. */

import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Store } from '../../core/port/store.ts';
import type { StoreOptions } from '../kind.ts';
import { domainNoun } from '../noun/domain.ts';
import { linkNoun } from '../noun/link.ts';
import { providerNoun } from '../noun/provider.ts';
import { Announcements } from './announcements.ts';
import { AnswerCache } from './answer-cache.ts';
import { auditStore } from './audit.ts';
import { AuditTrail } from './audit-trail.ts';
import { sqliteBackend } from './backend.ts';
import { Checkpoints } from './checkpoint.ts';
import { Connection } from './connection.ts';
import type { Context } from './context.ts';
import { countStore } from './count.ts';
import { deviceStore } from './device.ts';
import { distributionStore } from './distribution.ts';
import { eventStore } from './event.ts';
import { EventTrail } from './event-trail.ts';
import { exportStore } from './export.ts';
import { figureStore } from './figure.ts';
import { FigureTrail } from './figure-trail.ts';
import { LOCK_FILE, openDatabase } from './file/open.ts';
import { healthStore } from './health.ts';
import { importStore } from './import.ts';
import { inboxStore } from './inbox.ts';
import { installStore } from './install.ts';
import { keepingStore } from './keeping.ts';
import { knockAt } from './knock.ts';
import { laneStore } from './lane.ts';
import { ledgerStore } from './ledger.ts';
import { namedStore } from './named.ts';
import { nodeStore, Processes } from './node.ts';
import { outboxStore } from './outbox.ts';
import { OutboxSignal } from './outbox-signal.ts';
import { recipientStore } from './recipient.ts';
import { registrationStore } from './registration.ts';
import { removalStore } from './removal.ts';
import { slotStore } from './slot.ts';
import { targetStore } from './targets.ts';
import { WalIndex } from './wal-index.ts';
import { watchStore } from './watch.ts';
import { webhookStore } from './webhook.ts';
import { GroupWriter } from './writer.ts';

/** Longest wait for another process's lock when figures alone are left to be saved, ms. */
const LAST_WAIT_MS = 1_000;

/**
 * Opens the store. Throws `OperatorError` with the reason when it cannot. All of it happens in the
 * call itself: a promise is what a store over a network would need.
 */
export async function openSqliteStore(options: StoreOptions): Promise<Store> {
  const { dataDir, create, migrates, commitBatchMax, onCommit, onFigure, onOutbox } = options;
  const { clock = systemClock, onDistributionEnd } = options;
  const opened = openDatabase(dataDir, create, migrates);
  const index = WalIndex.of(opened.db);
  const db = new Connection(opened.db, index);
  const audit = new AuditTrail(db);
  const others = knockAt(join(dataDir, LOCK_FILE));
  const upkeep = index && new Checkpoints(db, () => clock.steadyMs());
  const outbox = new OutboxSignal(onOutbox);
  const events = new EventTrail(db, outbox);
  const ends = new Announcements(onDistributionEnd);
  const figures = new FigureTrail(db, () => clock.steadyMs(), onFigure, events);
  // Figures are last: they note events while they are saved.
  const notes = [audit, events, outbox, ends, figures];
  const writer = new GroupWriter(db, commitBatchMax, { notes, upkeep, onCommit, others });
  const context: Context = { db, writer, audit, figures, events, outbox, ends, clock };
  const backend = sqliteBackend(context);
  const providers = providerNoun(backend);
  const knownProviders = new AnswerCache(db, (code) => providers.findProvider(code));
  const processes = new Processes(context, dataDir);
  return {
    ...providers,
    findProvider: (code) => knownProviders.get(code),
    ...removalStore(context),
    ...installStore(context),
    ...linkNoun(backend),
    ...slotStore(context),
    ...domainNoun(backend),
    ...deviceStore(context),
    ...targetStore(context),
    ...distributionStore(context),
    ...laneStore(context),
    ...recipientStore(context),
    ...namedStore(context),
    ...ledgerStore(context),
    ...registrationStore(context),
    ...inboxStore(context),
    ...keepingStore(context),
    ...auditStore(context),
    ...healthStore(context, dataDir),
    ...importStore(context, backend),
    ...countStore(context),
    ...figureStore(context),
    ...outboxStore(context),
    ...eventStore(context),
    ...webhookStore(context),
    ...exportStore(dataDir),
    ...watchStore(context, processes),
    ...nodeStore(processes),
    // Nothing waits for a database in the process: calls wait for their turn at the HTTP server.
    onBehalfOf: (party, _nameOf, work) => work(party),
    close: async () => {
      writer.hasten();
      await writer.idle();
      writer.hasten(LAST_WAIT_MS);
      try {
        // Nobody hears of it any more: figures that are lost are no reason to stay.
        await figures.save(writer).catch(() => undefined);
        db.close();
      } finally {
        processes.close();
        opened.release();
      }
    },
  };
}

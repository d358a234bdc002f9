/**
 * The port: everything that the core needs remembered. The meaning of each method is what
 * `test/store/contract.ts` asks of it, and a second store is finished when it passes.
 *
 * Every method is one complete atomic step: it happens whole or not at all, also between processes,
 * and when its promise settles it is on disk. Steps on one provider, and on one link, take effect
 * one after the other, and after all that were answered before they began. The rules are the core's
 * and arrive as arguments; the store guards them in the step itself. A step that cannot be saved
 * throws `WriteFailed`. Between two steps anything may have changed: a store may let reads share a
 * snapshot, but nothing relies on it.
 *
 * A step that is handed an `Act` leaves an entry in the audit log if it changes something,
 * and none if it does not.
 */

import type { AuditStore } from './audit.ts';
import type { CountStore } from './count.ts';
import type { DeviceStore } from './device.ts';
import type { DistributionStore } from './distribution.ts';
import type { DomainStore } from './domain.ts';
import type { EventStore } from './event.ts';
import type { FigureStore } from './figure.ts';
import type { HealthStore } from './health.ts';
import type { InboxStore } from './inbox.ts';
import type { InstallStore } from './install.ts';
import type { KeepingStore } from './keeping.ts';
import type { LinkStore } from './link.ts';
import type { ImportStore } from './moving.ts';
import type { NodeStore } from './node.ts';
import type { OutboxStore } from './outbox.ts';
import type { ProviderStore } from './provider.ts';
import type { RegistrationStore } from './registration.ts';
import type { SlotStore } from './slot.ts';
import type { WebhookStore } from './webhook.ts';

export interface Store
  extends ProviderStore,
    InstallStore,
    LinkStore,
    SlotStore,
    DomainStore,
    DeviceStore,
    DistributionStore,
    RegistrationStore,
    InboxStore,
    AuditStore,
    ImportStore,
    CountStore,
    FigureStore,
    KeepingStore,
    OutboxStore,
    EventStore,
    WebhookStore,
    HealthStore,
    NodeStore {
  /**
   * Calls `onChange`, which does not throw, when another process may have left something to look
   * for here: work for a worker in any case, and messages or another token for these devices; 'all'
   * when the store does not know for whom. Nothing that happens from now on is missed, and it is
   * called within a second or two of it; more often than needed is no mistake. Returns how to end
   * it.
   */
  watch(onChange: (deviceIds: readonly number[] | 'all') => void): () => void;
  /**
   * Runs `work` on behalf of a party: a provider, or the address of a client, whose name `nameOf`
   * gives. Where calls wait for the database, parties take turns. All calls outside of such work
   * are of one party: the jobs of the node, or the command of the operator.
   */
  onBehalfOf<Party, T>(
    party: Party,
    nameOf: (party: Party) => string,
    work: (party: Party) => T,
  ): T;
  /** Finishes the writes under way, then closes. */
  close(): Promise<void>;
}

/** The store with some methods replaced. The others keep their `this`: a store may be a class. */
export function withMethods(store: Store, replaced: Partial<Store>): Store {
  const methods: Record<string, unknown> = {};
  for (let at = store; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method === 'function') methods[name] ??= method.bind(store);
    }
  }
  return Object.assign(methods, replaced) as unknown as Store;
}

/** Thrown by a store that could not save a change: disk full, database locked for too long, I/O. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';
}

/**
 * Thrown by a store whose database does not answer now, which the store itself tells the log of in
 * one line. As the cause of a {@link WriteFailed}: the change was not saved, or nobody knows.
 */
export class StoreAway extends Error {
  override readonly name: string = 'StoreAway';
}

/**
 * Thrown by a store that has no time for a call: too many wait before it, most of them of the same
 * party. The database is there.
 */
export class StoreBusy extends StoreAway {
  override readonly name = 'StoreBusy';
}

/** True if something failed because too many calls wait for the database. */
export function isBusy(fault: unknown): boolean {
  if (fault instanceof StoreBusy) return true;
  return fault instanceof Error && fault.cause !== undefined && isBusy(fault.cause);
}

/** True if something failed because the database does not answer, which the log has a line of. */
export function isAway(fault: unknown): boolean {
  if (fault instanceof StoreAway) return true;
  return fault instanceof Error && fault.cause !== undefined && isAway(fault.cause);
}

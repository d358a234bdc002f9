/**
 * The port: the records that the core needs and the steps on them. `test/store/contract.ts` defines
 * each method; a store is complete when it passes.
 *
 * - Each method is one atomic step, also between processes. Its changes are on disk when its
 *   promise resolves; it throws {@link WriteFailed} if they cannot be saved.
 * - Steps on one provider, and on one link, are serialised. A step sees all steps that were
 *   answered before it began.
 * - The rules are the core's and arrive as arguments; the step itself guards them.
 * - Other steps may run between any two steps. Reads may share a snapshot; no caller relies on it.
 * - A step with an `Act` adds an entry to the audit log if, and only if, it changes a record.
 */

import type { AccountStore } from './account.ts';
import type { AuditStore } from './audit.ts';
import type { BotStore } from './bot.ts';
import type { BrowserStore } from './browser.ts';
import type { ChangeStore } from './change.ts';
import type { CountStore } from './count.ts';
import type { CutOffStore } from './cut-off.ts';
import type { DeviceStore } from './device.ts';
import type { DeviceMixStore } from './device-mix.ts';
import type { DeviceSearchStore } from './device-search.ts';
import type { DistributionStore } from './distribution.ts';
import type { DomainStore } from './domain.ts';
import type { EndedStore } from './ended.ts';
import type { EventStore } from './event.ts';
import type { FigureStore, RefusedStore } from './figure.ts';
import type { FillStore } from './fill.ts';
import type { FollowStore } from './follow.ts';
import type { HealthStore } from './health.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InboxStore } from './inbox.ts';
import type { JobStore } from './job.ts';
import type { KeepingStore } from './keeping.ts';
import type { LinkStore } from './link.ts';
import type { LinkEndStore } from './link-end.ts';
import type { LinkJoinStore } from './link-join.ts';
import type { LinkTieStore } from './link-tie.ts';
import type { LinkViewStore } from './link-view.ts';
import type { ImportStore } from './moving.ts';
import type { MyStore } from './my.ts';
import type { NamedHwidStore } from './named-hwid.ts';
import type { NodeStore } from './node.ts';
import type { OutboxStore } from './outbox.ts';
import type { PanelTieStore } from './panel-tie.ts';
import type { PhoneStore } from './phone.ts';
import type { ProviderStore } from './provider.ts';
import type { ProviderKeyStore } from './provider-key.ts';
import type { ReceiptStore } from './receipt.ts';
import type { RegistrationStore } from './registration.ts';
import type { ReminderStore } from './reminder.ts';
import type { RemindingStore } from './reminding.ts';
import type { RideStore } from './ride.ts';
import type { SessionStore } from './session.ts';
import type { SightingStore } from './sighting.ts';
import type { SlotStore } from './slot.ts';
import type { SubscriptionFiguresStore } from './subscription-figures.ts';
import type { TimeStore } from './time.ts';
import type { UpkeepStore } from './upkeep.ts';
import type { UpstreamStore } from './upstream.ts';
import type { WebhookStore } from './webhook.ts';

export interface Store
  extends BotStore,
    ProviderStore,
    ProviderKeyStore,
    AccountStore,
    SessionStore,
    LinkStore,
    LinkViewStore,
    LinkEndStore,
    NamedHwidStore,
    LinkJoinStore,
    LinkTieStore,
    CutOffStore,
    SlotStore,
    PhoneStore,
    TimeStore,
    MyStore,
    BrowserStore,
    DomainStore,
    DeviceStore,
    DeviceMixStore,
    DeviceSearchStore,
    DistributionStore,
    ReceiptStore,
    RegistrationStore,
    ReminderStore,
    RemindingStore,
    RideStore,
    InboxStore,
    JobStore,
    AuditStore,
    ImportStore,
    PanelTieStore,
    CountStore,
    ChangeStore,
    FigureStore,
    RefusedStore,
    SightingStore,
    FillStore,
    FollowStore,
    SubscriptionFiguresStore,
    KeepingStore,
    IdempotencyStore,
    OutboxStore,
    EndedStore,
    EventStore,
    WebhookStore,
    HealthStore,
    UpkeepStore,
    UpstreamStore,
    NodeStore {
  /**
   * Watches for changes by other processes until the returned function is called. Calls `onChange`,
   * which must not throw, within two seconds of new work for a worker, and of new messages or
   * tokens for devices: their ids, or 'all' if the store does not know them. Extra calls may
   * happen.
   */
  watch(onChange: (deviceIds: readonly number[] | 'all') => void): () => void;
  /**
   * Runs `work` on behalf of a party, a provider or a client's address; `nameOf` returns its name.
   * Parties take turns where calls wait for the database. All other calls belong to one party: the
   * jobs of the node, or the operator's command.
   */
  onBehalfOf<Party, T>(
    party: Party,
    nameOf: (party: Party) => string,
    work: (party: Party) => T,
  ): T;
  /** Gives the rest of the present call to another party. Does nothing where no call waits. */
  continueAs(party: string): void;
  /** Closes the store after the writes in flight. */
  close(): Promise<void>;
}

/** Returns the store with some methods replaced; the others stay bound to it. */
export function withMethods(store: Store, replaced: Partial<Store>): Store {
  const methods: Record<string, unknown> = {};
  for (let at = store; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const method: unknown = Reflect.get(store, name);
      if (typeof method === 'function') methods[name] = method.bind(store);
    }
  }
  return Object.assign(methods, replaced) as unknown as Store;
}

/** The fault of a change that could not be saved: disk full, lock timeout, I/O error. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';
}

/** The fault of a change that is not saved, by a provider that made too many. */
export class TooManyDeeds extends Error {
  override readonly name = 'TooManyDeeds';

  constructor() {
    super('the provider has changed as much as it may: try again in a minute, or tomorrow');
  }
}

/**
 * The fault of a database outage, which the store logs once. As the cause of a {@link WriteFailed}:
 * whether the change was saved may be unknown.
 */
export class StoreAway extends Error {
  override readonly name: string = 'StoreAway';
  /** Without one: it is no fault of the program. */
  override readonly stack = '';
}

/** `busy`: another process holds a lock, which the problem names. `full`: the disk is. */
export type Trouble = 'busy' | 'full';

/**
 * The fault of a call that had no turn: too many calls are before it, or another process holds a
 * lock for too long. The database is up. The message is for the operator.
 */
export class StoreBusy extends StoreAway {
  override readonly name = 'StoreBusy';
}

/** The fault of a change for which there is no room on the disk of the database. */
export class StoreFull extends StoreAway {
  override readonly name = 'StoreFull';
}

/** Returns true if a fault comes from {@link StoreFull}. */
export function isFull(fault: unknown): boolean {
  return hasCause(fault, StoreFull);
}

/** Returns true if a fault comes from {@link StoreBusy}. */
export function isBusy(fault: unknown): boolean {
  return hasCause(fault, StoreBusy);
}

/** Returns true if a fault comes from {@link StoreAway}, which is logged already. */
export function isAway(fault: unknown): boolean {
  return hasCause(fault, StoreAway);
}

function hasCause(fault: unknown, kind: typeof StoreAway): boolean {
  if (fault instanceof kind) return true;
  return fault instanceof Error && fault.cause !== undefined && hasCause(fault.cause, kind);
}

/**
 * The steps of the worker that delivers distributions; src/jobs/deliver.ts repeats them. Each step
 * is one guarded write, so that a kill between two steps loses nothing, and is small, so that it
 * does not delay the API.
 *
 * A worker holds a distribution by a lease. Only the first due distribution of a provider is in
 * delivery, so that devices get them in order; providers take turns, so that a large send does not
 * delay the small ones of others.
 */

import type { Core } from '../core.ts';
import {
  type ClaimedDistribution,
  type DeliveryRules,
  type Lease,
  PUSH,
} from '../port/distribution.ts';
import type { Provider } from '../port/provider.ts';
import { mayCommand, mayNotify } from '../provider.ts';
import { nextTurn } from '../turn.ts';
import { BLOCKED, CHECKING, CREATED, endOf, LOAD, LOAD_FROM, PENDING, SENDING } from './status.ts';

/** Length of a lease that is not renewed, ms. */
export const LEASE_MS = 5_000;
/** Devices to wake in one turn of the event loop. */
const WAKE_BATCH = 200;

/**
 * Delivers some small sends by HWID as a whole, which saves some seven commits each, and takes each
 * other claimed distribution one step further. Returns false if there was no work. Skips bulky
 * steps once `signal` aborts.
 */
export async function deliverStep(
  core: Core,
  owner: string,
  nowMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const worker = { owner, nowMs, leaseMs: LEASE_MS };
  const [named] = await Promise.allSettled([deliverNamed(core, worker)]);
  const claimed = await core.store.claimWork(worker);
  const run = (work: ClaimedDistribution) => step(core, work, { id: work.id, ...worker });
  const small = Promise.allSettled(claimed.filter(({ isBulky }) => !isBulky).map(run));
  // One after the other: together they would be one long commit, which delays all others.
  const results: PromiseSettledResult<void>[] = [];
  for (const work of claimed.filter(({ isBulky }) => isBulky)) {
    if (signal?.aborted) break;
    results.push(...(await Promise.allSettled([run(work)])));
  }
  results.push(...(await small));
  // A fault of one step is thrown after all others.
  if (named.status === 'rejected') throw named.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return named.value || claimed.length > 0;
}

/** Delivers small sends by HWID. Returns true if there were any. */
async function deliverNamed(core: Core, worker: Omit<Lease, 'id'>): Promise<boolean> {
  const { ledgerRowsMax, waitingPerDeviceMax: waitingMax } = core.limits;
  const rules: DeliveryRules = {
    afterChecking: (provider, work) => afterChecking(provider, work, ledgerRowsMax, worker.nowMs),
    ledgerRowsMax,
    waitingMax,
    gateways: core.gateways(),
    rides: core.rides(),
  };
  const { count, deviceIds } = await core.store.deliverNamed(worker, rules);
  await wakeDevices(core, deviceIds);
  return count > 0;
}

async function step(core: Core, work: ClaimedDistribution, lease: Lease): Promise<void> {
  const { store } = core;
  const move = (to: number) => store.moveDistribution(lease, work.status, to, core.rides());
  switch (work.status) {
    case CREATED:
    case PENDING:
      await move(CHECKING);
      return;
    case CHECKING: {
      const provider = await store.findProvider(work.providerCode);
      await move(afterChecking(provider, work, core.limits.ledgerRowsMax, lease.nowMs));
      return;
    }
    case LOAD:
    case LOAD_FROM:
      if (work.status === LOAD && work.isTakenOver) await move(LOAD_FROM);
      else if (await load(core, lease)) await move(SENDING);
      return;
    case SENDING:
      await send(core, lease);
  }
}

/** Writes the next recipients. Returns true if all are written. */
async function load({ limits, rides, store }: Core, lease: Lease): Promise<boolean> {
  const loaded = await store.loadRecipients(lease, limits.ledgerRowsMax, rides());
  return loaded?.isDone === true;
}

/** Returns the status after 20 Checking: the provider's plan and subscription count at delivery. */
function afterChecking(
  provider: Provider | null,
  work: Pick<ClaimedDistribution, 'notificationType' | 'ledgerCount'> & { isDue?: boolean },
  ledgerRowsMax: number,
  nowMs: number,
): number {
  const may = work.notificationType === PUSH ? mayNotify : mayCommand;
  if (provider === null || !may(provider, nowMs)) return BLOCKED;
  if (work.isDue === false) return PENDING;
  // Only here: while a distribution loads, no other one of the provider adds rows.
  return work.ledgerCount < ledgerRowsMax ? LOAD : BLOCKED;
}

async function send(core: Core, lease: Lease): Promise<void> {
  const { waitingPerDeviceMax } = core.limits;
  const sent = await core.store.sendRecipients(lease, waitingPerDeviceMax, core.gateways());
  if (sent === null) return;
  await wakeDevices(core, sent.deviceIds);
  // From here on gateways end it, outside of the provider's lane.
  if (sent.outcome === null || sent.outcome.isHandedOver) return;
  const { sentCount, failedCount } = sent.outcome;
  await core.store.moveDistribution(lease, SENDING, endOf(sentCount, failedCount));
}

/** Wakes the streams and long polls of these devices, or of all. */
export async function wakeDevices(core: Core, deviceIds: readonly number[] | 'all'): Promise<void> {
  const awaited = core.signals.awaited(deviceIds);
  for (let i = 0; i < awaited.length; i += WAKE_BATCH) {
    if (i > 0) await nextTurn();
    for (const deviceId of awaited.slice(i, i + WAKE_BATCH)) core.signals.messagesFor(deviceId);
  }
}

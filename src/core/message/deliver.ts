/**
 * The worker that delivers what providers' sends were accepted as. Plain functions of the core and
 * a time: something else rings. Each step is one guarded write, so a kill between any two of them
 * loses nothing, and a step is small, so that it does not hold up the API.
 *
 * A worker holds a distribution by a lease; another one takes over when the lease ends. Of each
 * provider's due distributions only the first is in hand, so a device gets them in order, and the
 * providers take turns, so that a large send does not hold up a small one of somebody else.
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

/** Time for which a worker that says nothing keeps what it holds, ms. */
export const LEASE_MS = 5_000;
/** Waiting devices that are told of a message in one turn of the event loop. */
const WAKE_BATCH = 200;

/**
 * Delivers some small sends by HWID, and takes every other piece of work one step further: a step
 * for each send by HWID would cost some seven commits in a row, and sends by HWID alone would hold
 * up the rest. Returns false when there was no work, so that the caller repeats it until then. With
 * `signal` the large ones that are not begun are left.
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
  // One after the other: together they would be one long commit, and nobody else got a turn.
  const results: PromiseSettledResult<void>[] = [];
  for (const work of claimed.filter(({ isBulky }) => isBulky)) {
    if (signal?.aborted) break;
    results.push(...(await Promise.allSettled([run(work)])));
  }
  results.push(...(await small));
  // One that fails holds up no other.
  if (named.status === 'rejected') throw named.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return named.value || claimed.length > 0;
}

/** Delivers small sends by HWID; says whether there were any. */
async function deliverNamed(core: Core, worker: Omit<Lease, 'id'>): Promise<boolean> {
  const { ledgerRowsMax, waitingPerDeviceMax: waitingMax } = core.limits;
  const rules: DeliveryRules = {
    afterChecking: (provider, work) => afterChecking(provider, work, ledgerRowsMax, worker.nowMs),
    ...{ ledgerRowsMax, waitingMax, gateways: core.gateways() },
  };
  const { count, deviceIds } = await core.store.deliverNamed(worker, rules);
  await tell(core, deviceIds);
  return count > 0;
}

async function step(core: Core, work: ClaimedDistribution, lease: Lease): Promise<void> {
  const { store } = core;
  const move = (to: number) => store.moveDistribution(lease, work.status, to);
  switch (work.status) {
    case CREATED:
    case PENDING:
      await move(CHECKING);
      return;
    case CHECKING:
      await move(await nextAfterChecking(core, work, lease.nowMs));
      return;
    case LOAD:
    case LOAD_FROM:
      if (work.status === LOAD && work.isTakenOver) await move(LOAD_FROM);
      else if ((await store.loadRecipients(lease, core.limits.ledgerRowsMax))?.isDone)
        await move(SENDING);
      return;
    case SENDING:
      await send(core, lease);
  }
}

async function nextAfterChecking(
  core: Core,
  work: ClaimedDistribution,
  nowMs: number,
): Promise<number> {
  const provider = await core.store.findProvider(work.providerCode);
  return afterChecking(provider, work, core.limits.ledgerRowsMax, nowMs);
}

/** Access is looked at again when the time has come, not only when the call was accepted. */
function afterChecking(
  provider: Provider | null,
  work: Pick<ClaimedDistribution, 'notificationType' | 'ledgerCount'> & { isDue?: boolean },
  ledgerRowsMax: number,
  nowMs: number,
): number {
  const may = work.notificationType === PUSH ? mayNotify : mayCommand;
  if (provider === null || !may(provider, nowMs)) return BLOCKED;
  if (work.isDue === false) return PENDING;
  // Only here: while one is written, no other one of the provider is.
  return work.ledgerCount < ledgerRowsMax ? LOAD : BLOCKED;
}

async function send(core: Core, lease: Lease): Promise<void> {
  const { waitingPerDeviceMax } = core.limits;
  const sent = await core.store.sendRecipients(lease, waitingPerDeviceMax, core.gateways());
  if (sent === null) return;
  await tell(core, sent.deviceIds);
  // From there on gateways move it, not a worker: nothing of the provider waits for them.
  if (sent.outcome === null || sent.outcome.isHandedOver) return;
  const { sentCount, failedCount } = sent.outcome;
  await core.store.moveDistribution(lease, SENDING, endOf(sentCount, failedCount));
}

/** Wakes everybody here who waits for messages of these devices, or of any. */
export async function tell(core: Core, deviceIds: readonly number[] | 'all'): Promise<void> {
  const awaited = core.signals.awaited(deviceIds);
  for (let i = 0; i < awaited.length; i += WAKE_BATCH) {
    if (i > 0) await nextTurn();
    for (const deviceId of awaited.slice(i, i + WAKE_BATCH)) core.signals.messagesFor(deviceId);
  }
}

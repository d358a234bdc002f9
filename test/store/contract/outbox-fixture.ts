/** What the suites about the outbox share: devices with addresses, workers that settle. */

import type {
  Destination,
  DestinationHealth,
  Dispatch,
  OutboxLease,
  PushDispatch,
  Settlement,
} from '../../../src/core/port/outbox.ts';
import { PUSH_GATEWAYS, type PushAddress } from '../../../src/core/port/registration.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { CLOCK, knock, NOW_MS } from './fixture.ts';
import {
  bringTo,
  lease,
  onLink,
  registration,
  send,
  tokenHash,
  WAITING_MAX,
} from './message-fixture.ts';

export const OUTBOX_LEASE_MS = 30_000;
export const fcm = (token: string): PushAddress => ({ gateway: 'fcm', token });
export const apns = (token: string): PushAddress => ({ gateway: 'apns', token });
export const webpush = (endpoint: string): PushAddress => ({
  gateway: 'webpush',
  token: { endpoint, keys: { p256dh: 'key', auth: 'secret' } },
});

export const WELL: DestinationHealth = {
  failureCount: 0,
  failingSinceMs: null,
  retryAtMs: 0,
  stoppedAtMs: null,
  problem: null,
};

let tokenCount = 0;

/** Lets a device in by its link if need be, and registers it with an address. */
export async function registerAt(
  store: Store,
  hwid: string,
  push: PushAddress | null,
  more: Parameters<typeof registration>[1] = {},
) {
  await knock(store, hwid);
  const hash = tokenHash(`push ${tokenCount++}`);
  const wanted = registration(hwid, { push, shown: onLink(), tokenHash: hash, ...more });
  const registered = await store.registerDevice(wanted);
  if (typeof registered === 'string') throw new Error(registered);
  return { id: registered.deviceId, tokenHash: hash };
}

/** Hands a message to all its recipients; says what the last step said. */
export async function serve(
  store: Store,
  providerId: number,
  more: Parameters<typeof send>[2] = {},
  gateways: readonly (typeof PUSH_GATEWAYS)[number][] = PUSH_GATEWAYS,
) {
  const nowMs = more.dueAtMs ?? more.createdAtMs ?? NOW_MS;
  const id = await send(store, providerId, more);
  await bringTo(store, id, 40, { nowMs });
  for (;;) {
    const step = await store.sendRecipients(lease(id, 'one', nowMs), WAITING_MAX, gateways);
    if (step === null) throw new Error('lost while sending');
    if (step.outcome === null) continue;
    if (!step.outcome.isHandedOver) {
      await store.moveDistribution(lease(id, 'one', nowMs), 40, 100);
    }
    return { id, outcome: step.outcome };
  }
}

/** A hold on destinations at a moment: the clock of the stores is set to it. */
export function hold(owner = 'one', nowMs = NOW_MS): OutboxLease {
  CLOCK.set(nowMs);
  return { owner, nowMs, leaseMs: OUTBOX_LEASE_MS };
}

export async function claimGateways(
  store: Store,
  owner = 'one',
  nowMs = NOW_MS,
): Promise<Destination[]> {
  return store.claimDestinations(hold(owner, nowMs), PUSH_GATEWAYS, 100, 100, []);
}

/** Gets hold of the only destination that has something due. */
export async function claimOne(store: Store, owner = 'one', nowMs = NOW_MS): Promise<Destination> {
  const [found, another] = await claimGateways(store, owner, nowMs);
  if (found === undefined || another !== undefined) throw new Error('not one destination');
  return found;
}

export async function dueAt(
  store: Store,
  destinationId: number,
  nowMs = NOW_MS,
): Promise<Dispatch[]> {
  return store.listDispatches(destinationId, nowMs, 1_000, null);
}

export async function pushesAt(store: Store, destinationId: number, nowMs = NOW_MS) {
  return (await dueAt(store, destinationId, nowMs)) as PushDispatch[];
}

type Outcome = Settlement extends infer S ? (S extends unknown ? Omit<S, 'id'> : never) : never;

export const ACCEPTED: Outcome = { outcome: 'accepted' };
export const MOOT: Outcome = { outcome: 'moot' };
export const failedFor = (problem: string): Outcome => ({ outcome: 'failed', problem });
export const retryAt = (nextAtMs: number, problem = 'busy'): Outcome => ({
  outcome: 'retry',
  nextAtMs,
  problem,
});

/** Settles dispatches alike. */
export function settle(
  store: Store,
  destinationId: number,
  dispatches: readonly { id: number }[],
  outcome: Outcome,
  { owner = 'one', nowMs = NOW_MS, health = WELL } = {},
): Promise<boolean> {
  const settlements = dispatches.map(({ id }) => ({ id, ...outcome }) as Settlement);
  return store.settleDispatches(
    { ...hold(owner, nowMs), destinationId },
    settlements,
    health,
    null,
  );
}

/** The counts of a distribution: status, recipients, sent, failed. */
export async function countsOf(store: Store, id: number): Promise<number[]> {
  const found = await store.findDistribution(id, 1);
  if (found === null) throw new Error(`there is no distribution ${id}`);
  const { status, recipientCount, sentCount, failedCount } = found.distribution;
  return [status, recipientCount, sentCount, failedCount];
}

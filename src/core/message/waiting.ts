/** The reason why a message has not ended, and its block, for operators. */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { Refused } from '../outcome.ts';
import { type DistributionDetail, PUSH } from '../port/distribution.ts';
import { mayCommand, mayNotify } from '../provider.ts';
import {
  BLOCKED,
  isTerminal,
  LOAD,
  LOAD_FROM,
  SENDING,
  STATUS_NAMES,
  statusesBefore,
} from './status.ts';

/** The most gateways whose problems are shown. */
const GATEWAYS_MAX = 20;
const IN_DELIVERY = [LOAD, LOAD_FROM, SENDING];

/** A gateway or push service whose last attempt failed. */
interface FailingGateway {
  kind: string;
  origin: string;
  problem: string;
  isStopped: boolean;
}

/** The reason why a message has not ended. */
type Waiting =
  | { why: 'scheduled'; untilMs: number }
  /** Its provider may not send such messages now, so it will be blocked when it is due. */
  | { why: 'subscription' }
  /** An earlier message of the provider's lane has not ended. */
  | { why: 'behind'; id: number }
  | { why: 'gateways'; failing: FailingGateway[] }
  | { why: 'delivering' }
  /** It is due, and no worker has claimed it. */
  | { why: 'worker' };

/** Finds the reason why a message waits; null: it has ended. */
export async function findWaiting(
  core: Core,
  message: DistributionDetail,
  nowMs: number,
): Promise<Waiting | null> {
  const { dueAtMs, handedOverAtMs, notificationType, providerCode, status } = message;
  if (isTerminal(status)) return null;
  if (handedOverAtMs !== null) return { why: 'gateways', failing: await failingGateways(core) };
  if (IN_DELIVERY.includes(status)) return { why: 'delivering' };
  if (dueAtMs > nowMs) return { why: 'scheduled', untilMs: dueAtMs };
  const provider = await core.store.findProvider(providerCode);
  const may = notificationType === PUSH ? mayNotify : mayCommand;
  if (provider === null || !may(provider, nowMs)) return { why: 'subscription' };
  const { messages } = await core.store.listMessages(
    provider.id,
    { ids: null, notificationType: null, statuses: IN_DELIVERY, isScheduled: null },
    { beforeId: null, countMax: 2, scanMax: 1_000 },
  );
  const before = messages.find((one) => one.handedOverAtMs === null);
  return before === undefined ? { why: 'worker' } : { why: 'behind', id: before.id };
}

async function failingGateways({ store }: Core): Promise<FailingGateway[]> {
  const kinds = ['fcm', 'apns', 'webpush'] as const;
  const all = await store.listDestinations(kinds, GATEWAYS_MAX);
  return all.flatMap(({ kind, origin, problem, stoppedAtMs }) =>
    problem === null ? [] : [{ kind, origin, problem, isStopped: stoppedAtMs !== null }],
  );
}

/** Finds a message of any provider; null: none has the id. */
export async function findMessage({ store }: Core, id: number) {
  const filter = { providerCode: null, countMax: 1, beforeId: id + 1 };
  const [found] = await store.listAllDistributions(filter);
  return found?.id === id ? found : null;
}

/**
 * Blocks a message: no further device gets it, and it no longer rides. Returns `ride_ended` for one
 * that had ended and only rode. Refuses `message_ended` with the state as its detail.
 */
export async function blockMessage(
  core: Core,
  id: number,
  nowMs: number,
): Promise<'ok' | 'ride_ended' | Refused<'notification_not_found' | 'message_ended'>> {
  const from = statusesBefore(BLOCKED);
  const outcome = await core.store.blockDistribution(id, from, nowMs, actAt(core, nowMs));
  if (outcome === 'distribution_not_found') return new Refused('notification_not_found');
  if (typeof outcome !== 'number') return outcome;
  return new Refused('message_ended', { detail: STATUS_NAMES[outcome] });
}

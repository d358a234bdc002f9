/** Accepts push notifications and remote commands; deliver.ts delivers them. */

import { actAt } from '../audit/entry.ts';
import { DAY_MS } from '../calendar.ts';
import type { Core } from '../core.ts';
import { isRefused, Refused, saving } from '../outcome.ts';
import {
  type BoundReached,
  COMMAND,
  type DistributionGuards,
  type NewDistribution,
  PUSH,
  type TargetCursor,
  type TargetDevice,
  type TargetStep,
} from '../port/distribution.ts';
import type { Provider } from '../port/provider.ts';
import { nextTurn } from '../turn.ts';
import type { CommandPayload } from './command.ts';
import type { NotificationPayload } from './notification.ts';
import type { Order } from './order.ts';

/** Least time between two general notifications of a provider, ms (specification, "Limits"). */
export const GENERAL_INTERVAL_MS = 5 * 60_000;
/** Days until a command expires. */
const COMMAND_EXPIRE_DAYS = 30;
/** Length of the window of sends, ms. */
export const SENDS_WINDOW_MS = 60_000;
/**
 * Kept bytes of a distribution beside payload and HWIDs: its row and indexes (docs/limits.md). The
 * triggers of migration 0005 count the same.
 */
export const KEPT_BYTES_EACH = 200;
/** Length of the window of the quota of unbound commands, ms. */
const UNBOUND_QUOTA_MS = DAY_MS;

type Kind = 'notification' | 'command';
/** Refusals of a send by its bounds, with the kind as a prefix. */
type Bounded<K extends Kind> = `${K}_${BoundReached | 'save_error'}`;

/**
 * Accepts a push notification. Refuses `device_not_found` if a HWID is not attached to the
 * provider, `no_devices_found` if no device has the operating system, `general_too_soon` less than
 * {@link GENERAL_INTERVAL_MS} after the last one without HWIDs, and sends beyond `SendBounds`.
 */
export async function sendNotification(
  core: Core,
  provider: Provider,
  order: Order<NotificationPayload>,
  nowMs: number,
): Promise<
  | { id: number }
  | Refused<'device_not_found' | 'no_devices_found' | 'general_too_soon' | Bounded<'notification'>>
> {
  const { targets } = order;
  if ('hwids' in targets) {
    const devices = await core.store.findTargets(provider.id, targets.hwids);
    if (devices.some((device) => device === null || !device.isLinked)) {
      return new Refused('device_not_found');
    }
  } else if (!(await hasDeviceOf(core, provider, targets.os))) {
    return new Refused('no_devices_found');
  }
  const draft: NewDistribution = {
    ...draftOf(provider, order, order.payload.expire_days, nowMs),
    notificationType: PUSH,
    actionType: null,
    reachesUnbound: false,
    unboundCount: 0,
  };
  const generalIntervalMs = 'os' in targets ? GENERAL_INTERVAL_MS : null;
  const guards = { generalIntervalMs, unboundQuota: null };
  return add(core, 'notification', 'general_too_soon', draft, guards);
}

/**
 * Accepts a remote command. Refuses `device_not_found` for an unknown HWID, `unbound_not_allowed`
 * for an action other than `import-data` to a device that is not attached to the provider,
 * `unbound_quota_exceeded`, and sends beyond `SendBounds`.
 */
export async function sendCommand(
  core: Core,
  provider: Provider,
  order: Order<CommandPayload>,
  nowMs: number,
): Promise<
  | { id: number }
  | Refused<
      'device_not_found' | 'unbound_not_allowed' | 'unbound_quota_exceeded' | Bounded<'command'>
    >
> {
  const { targets } = order;
  // New customers get their first subscription by it.
  const reachesUnbound = order.payload.action_type === 'import-data';
  let unboundCount = 0;
  if ('hwids' in targets) {
    const devices = await core.store.findTargets(provider.id, targets.hwids);
    const known = devices.filter((device): device is TargetDevice => device !== null);
    if (known.length < devices.length) return new Refused('device_not_found');
    unboundCount = known.filter((device) => !device.isLinked).length;
    if (unboundCount > 0 && !reachesUnbound) return new Refused('unbound_not_allowed');
  }
  const draft: NewDistribution = {
    ...draftOf(provider, order, COMMAND_EXPIRE_DAYS, nowMs),
    notificationType: COMMAND,
    actionType: order.payload.action_type,
    reachesUnbound,
    unboundCount,
  };
  const quota = {
    sinceMs: nowMs - UNBOUND_QUOTA_MS,
    countMax: core.limits.unboundCommandsPerDayMax,
  };
  const guards = { generalIntervalMs: null, unboundQuota: unboundCount === 0 ? null : quota };
  return add(core, 'command', 'unbound_quota_exceeded', draft, guards);
}

function draftOf(
  provider: Provider,
  { payload, targets, dueAtMs }: Order<unknown>,
  expireDays: number,
  nowMs: number,
) {
  return {
    providerId: provider.id,
    targetOs: 'os' in targets ? targets.os.join(',') : null,
    targetHwid: 'hwids' in targets ? targets.hwids.join(',') : '',
    payload: JSON.stringify(payload),
    createdAtMs: nowMs,
    dueAtMs,
    expiresAtMs: (dueAtMs ?? nowMs) + expireDays * DAY_MS,
  };
}

/** Adds a distribution and wakes the worker. Refuses by the guard of its kind or by a bound. */
async function add<K extends Kind, G extends 'general_too_soon' | 'unbound_quota_exceeded'>(
  core: Core,
  kind: K,
  guard: G,
  draft: NewDistribution,
  guards: Omit<DistributionGuards, 'bounds'>,
): Promise<{ id: number } | Refused<G | Bounded<K>>> {
  const { sendsPerMinuteMax, keptBytesMax, ledgerRowsMax } = core.limits;
  const own = { sendsPerMinuteMax, keptBytesMax, ledgerRowsMax };
  const bounds = { ...own, windowMs: SENDS_WINDOW_MS, bytesEach: KEPT_BYTES_EACH };
  const act = actAt(core, draft.createdAtMs);
  const added = await saving<{ id: number } | string, Bounded<K>>(
    `${kind}_save_error`,
    core.store.addDistribution(draft, { ...guards, bounds }, act),
  );
  if (typeof added === 'object') {
    if (!isRefused(added)) core.signals.workAccepted();
    return added;
  }
  return new Refused(added === guard ? guard : `${kind}_${added as BoundReached}`);
}

/** Searches in steps, so that a provider with many links does not delay others. */
async function hasDeviceOf(core: Core, provider: Provider, os: readonly string[]) {
  for (let at: TargetCursor | null = null; ; await nextTurn()) {
    const step: TargetStep = await core.store.scanTargets(provider.id, os, at);
    if (step.hasMatch || step.next === null) return step.hasMatch;
    at = step.next;
  }
}

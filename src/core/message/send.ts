/**
 * Sending: a push notification or a remote command is accepted, listed and cancelled;
 * core/message/deliver.ts delivers it.
 */

import { actAt } from '../audit/entry.ts';
import { DAY_MS } from '../calendar.ts';
import type { Core } from '../core.ts';
import { fromStore, isRefused, Refused, saving } from '../outcome.ts';
import {
  type BoundReached,
  COMMAND,
  type Distribution,
  PUSH,
  type TargetCursor,
  type TargetDevice,
  type TargetStep,
} from '../port/distribution.ts';
import type { Page } from '../port/page.ts';
import type { Provider } from '../port/provider.ts';
import { nextTurn } from '../turn.ts';
import type { CommandPayload } from './command.ts';
import type { NotificationPayload } from './notification.ts';
import type { Order } from './order.ts';
import { CANCELLED, isTerminal, statusesBefore } from './status.ts';
import type { Targets } from './target.ts';

/** Between two general notifications of a provider, ms (specification, "Limits"). */
export const GENERAL_INTERVAL_MS = 5 * 60_000;
/**
 * A cancel later than this before the planned delivery is refused, ms (specification, "Limits").
 */
export const CANCEL_CUTOFF_MS = 10 * 60_000;
/** How long a command waits for a device to fetch it. */
export const COMMAND_EXPIRE_DAYS = 30;
/** Sends are counted over this time. */
export const SENDS_WINDOW_MS = 60_000;
/**
 * The share of a distribution in its provider's kept bytes beside payload and HWIDs: its row and
 * the indexes (docs/limits.md). The triggers of migration 0005 count the same.
 */
export const KEPT_BYTES_EACH = 200;
/** The quota of commands to unbound HWIDs is counted over this time. */
export const UNBOUND_QUOTA_MS = DAY_MS;

export type NotificationRefusal =
  | 'device_not_found'
  | 'no_devices_found'
  | 'general_too_soon'
  | `notification_${BoundReached}`
  | 'notification_save_error';

export type CommandRefusal =
  | 'device_not_found'
  | 'unbound_not_allowed'
  | 'unbound_quota_exceeded'
  | `command_${BoundReached}`
  | 'command_save_error';

/**
 * Accepts a push notification; delivery is the worker's. Refuses `device_not_found` (a HWID that is
 * not one of the provider's devices; nothing is sent to anybody), `no_devices_found`,
 * `general_too_soon` (less than {@link GENERAL_INTERVAL_MS} after the last one without HWIDs), and
 * what passes a bound of the provider: see {@link SendBounds}.
 */
export async function sendNotification(
  core: Core,
  provider: Provider,
  order: Order<NotificationPayload>,
  nowMs: number,
): Promise<{ id: number } | Refused<NotificationRefusal>> {
  const { targets } = order;
  if ('hwids' in targets) {
    const devices = await core.store.findTargets(provider.id, targets.hwids);
    if (devices.some((device) => device === null || !device.isLinked)) {
      return new Refused('device_not_found');
    }
  } else if (!(await hasDeviceOf(core, provider, targets.os))) {
    return new Refused('no_devices_found');
  }
  const generalIntervalMs = 'os' in targets ? GENERAL_INTERVAL_MS : null;
  const added = await saving(
    'notification_save_error',
    core.store.addDistribution(
      {
        ...draftOf(provider, order, order.payload.expire_days, nowMs),
        notificationType: PUSH,
        actionType: null,
        reachesUnbound: false,
        unboundCount: 0,
      },
      { generalIntervalMs, unboundQuota: null, bounds: boundsOf(core) },
      actAt(core, nowMs),
    ),
  );
  return accepted(core, 'notification', added, 'unbound_quota_exceeded');
}

/**
 * Accepts a remote command; delivery is the worker's. Refuses `device_not_found` (a HWID that
 * nobody knows), `unbound_not_allowed` (an action other than `import-data` to a device that is not
 * linked to the provider), `unbound_quota_exceeded`, and what passes a bound of the provider: see
 * {@link SendBounds}.
 */
export async function sendCommand(
  core: Core,
  provider: Provider,
  order: Order<CommandPayload>,
  nowMs: number,
): Promise<{ id: number } | Refused<CommandRefusal>> {
  const { targets } = order;
  // That is how a new customer gets a first subscription.
  const reachesUnbound = order.payload.action_type === 'import-data';
  let unboundCount = 0;
  if ('hwids' in targets) {
    const devices = await core.store.findTargets(provider.id, targets.hwids);
    const known = devices.filter((device): device is TargetDevice => device !== null);
    if (known.length < devices.length) return new Refused('device_not_found');
    unboundCount = known.filter((device) => !device.isLinked).length;
    if (unboundCount > 0 && !reachesUnbound) return new Refused('unbound_not_allowed');
  }
  const unboundQuota =
    unboundCount === 0
      ? null
      : { sinceMs: nowMs - UNBOUND_QUOTA_MS, countMax: core.unboundCommandsPerDayMax };
  const added = await saving(
    'command_save_error',
    core.store.addDistribution(
      {
        ...draftOf(provider, order, COMMAND_EXPIRE_DAYS, nowMs),
        notificationType: COMMAND,
        actionType: order.payload.action_type,
        reachesUnbound,
        unboundCount,
      },
      { generalIntervalMs: null, unboundQuota, bounds: boundsOf(core) },
      actAt(core, nowMs),
    ),
  );
  return accepted(core, 'command', added, 'general_too_soon');
}

/** What every order becomes, whatever is sent. */
function draftOf(
  provider: Provider,
  { payload, targets, dueAtMs }: Order<unknown>,
  expireDays: number,
  nowMs: number,
) {
  return {
    providerId: provider.id,
    ...targetColumns(targets),
    payload: JSON.stringify(payload),
    createdAtMs: nowMs,
    dueAtMs,
    expiresAtMs: (dueAtMs ?? nowMs) + expireDays * DAY_MS,
  };
}

function boundsOf({ sendBounds }: Core) {
  return { ...sendBounds, windowMs: SENDS_WINDOW_MS, bytesEach: KEPT_BYTES_EACH };
}

const BOUNDS_REACHED: readonly string[] = [
  'too_many_sends',
  'kept_bytes_full',
  'ledger_full',
] satisfies BoundReached[];

/**
 * Tells the worker of what was added, and names a bound after what was to be sent; `unasked` is the
 * guard that was not set.
 */
function accepted<K extends string, U extends string, R extends string, S extends string>(
  core: Core,
  kind: K,
  added: { id: number } | U | R | BoundReached | Refused<S>,
  unasked: U,
): { id: number } | Refused<Exclude<R, U | BoundReached> | `${K}_${BoundReached}` | S> {
  if (typeof added === 'object') {
    if (!isRefused(added)) core.signals.workAccepted();
    return added;
  }
  if (added === unasked) throw new Error(`the store refused with ${unasked}, which nobody asked`);
  if (BOUNDS_REACHED.includes(added)) return new Refused(`${kind}_${added as BoundReached}`);
  return new Refused(added as Exclude<R, U | BoundReached>);
}

/** The provider's distributions, newest first. */
export function listDistributions(
  core: Core,
  provider: Provider,
  page: Page,
): Promise<Distribution[]> {
  return core.store.listDistributions(provider.id, page);
}

/**
 * Cancels a distribution: after `ok` no device ever gets it. Refuses `notification_not_found` for
 * an id that is unknown or another provider's, `cancel_failed` when it has ended already,
 * `cancel_too_late` when it was not scheduled or is due in less than {@link CANCEL_CUTOFF_MS}.
 */
export async function cancelDistribution(
  core: Core,
  provider: Provider,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'notification_not_found' | 'cancel_too_late' | 'cancel_failed'>> {
  const outcome = await saving(
    'cancel_failed',
    core.store.cancelDistribution(
      provider.id,
      id,
      { from: statusesBefore(CANCELLED), dueFromMs: nowMs + CANCEL_CUTOFF_MS, nowMs },
      actAt(core, nowMs),
    ),
  );
  if (typeof outcome !== 'number') return fromStore(outcome);
  return new Refused(isTerminal(outcome) ? 'cancel_failed' : 'cancel_too_late');
}

function targetColumns(targets: Targets): { targetOs: string | null; targetHwid: string } {
  return 'hwids' in targets
    ? { targetOs: null, targetHwid: targets.hwids.join(',') }
    : { targetOs: targets.os.join(','), targetHwid: '' };
}

/** Looked for in steps, so that a provider with many links does not hold up the others. */
async function hasDeviceOf(core: Core, provider: Provider, os: readonly string[]) {
  for (let at: TargetCursor | null = null; ; await nextTurn()) {
    const step: TargetStep = await core.store.scanTargets(provider.id, os, at);
    if (step.hasMatch || step.next === null) return step.hasMatch;
    at = step.next;
  }
}

/** Accepts push notifications and remote commands; deliver.ts delivers them. */

import { actAt } from './audit/entry.ts';
import { DAY_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { SEARCHED_HWIDS_MAX } from './device-search.ts';
import { isKeyRefusal, refusedKey } from './idempotency.ts';
import type { CommandPayload } from './message/command.ts';
import type { StoredNotification } from './message/filling.ts';
import type { Order } from './message/order.ts';
import { isReplaceRefusal, refusedReplacing } from './message/replacing.ts';
import { searchAt, segmentText } from './message/segment.ts';
import { isRefused, Refused, saving } from './outcome.ts';
import type { DeviceSearch, Segment } from './port/device-search.ts';
import {
  type BoundReached,
  COMMAND,
  type DistributionGuards,
  type NewDistribution,
  PUSH,
} from './port/distribution.ts';
import type { Made } from './port/idempotency.ts';
import type { Provider } from './port/provider.ts';
import { type Store, withMethods } from './port/store.ts';
import {
  countFor,
  countTargets,
  findForCommand,
  findForNotification,
  findsAny,
  type TargetCount,
  type TargetRefusal,
} from './target-count.ts';

/** Least time between two general notifications of a provider, ms (specification, "Limits"). */
export const GENERAL_INTERVAL_MS = 5 * 60_000;
/** Days until a command expires. */
const COMMAND_EXPIRE_DAYS = 30;
/** Length of the window of sends, ms. */
export const SENDS_WINDOW_MS = 60_000;
/**
 * Kept bytes of a distribution besides payload and HWIDs: its row and indexes (docs/limits.md). The
 * triggers of migration 0005 count the same.
 */
export const KEPT_BYTES_EACH = 200;
/** Length of the window of the quota of unbound commands, ms. */
const UNBOUND_QUOTA_MS = DAY_MS;

type Kind = 'notification' | 'command';
/** Refusals of a send by its bounds, with the kind as a prefix. */
type Bounded<K extends Kind> = `${K}_${BoundReached | 'save_error'}`;

/** An accepted send. `count` null: its devices could not be counted. */
export interface Accepted extends Made {
  count: TargetCount | null;
}

/**
 * Returns a core whose sends are only checked: they are refused and counted like real ones, and
 * have the id 0.
 */
export function rehearsing(core: Core): Core {
  const check: Store['addDistribution'] = async (draft, guards) =>
    (await core.store.checkDistribution(draft, guards)) ?? { id: 0 };
  return { ...core, store: withMethods(core.store, { addDistribution: check }) };
}

/**
 * Accepts a push notification. Refuses `device_not_found` if a HWID is not attached to the
 * provider, `no_devices_found` if no device has the operating system, `general_too_soon` less than
 * {@link GENERAL_INTERVAL_MS} after the last one without HWIDs, or to a segment of more devices
 * than {@link SEARCHED_HWIDS_MAX}, sends beyond `SendBounds`, and
 * `malformed` for the key of another call and for what it cannot replace. A repeat with a key sends
 * nothing.
 */
export async function sendNotification(
  core: Core,
  provider: Provider,
  order: Order<StoredNotification>,
  nowMs: number,
): Promise<
  | Accepted
  | Refused<
      | TargetRefusal<typeof findForNotification>
      | 'general_too_soon'
      | Bounded<'notification'>
      | 'malformed'
    >
> {
  const { targets } = order;
  const found =
    'segment' in targets
      ? ((await searchOf(core, provider, order, targets.segment, nowMs)) ??
        new Refused('no_devices_found', NONE_FOUND))
      : await findForNotification(core, provider, targets);
  if (isRefused(found)) return found;
  const draft: NewDistribution = {
    ...draftOf(provider, order, order.payload.expire_days, nowMs),
    notificationType: PUSH,
    actionType: null,
    reachesUnbound: false,
    unboundCount: 0,
    replacesId: order.replacesId ?? null,
  };
  const message = {
    type: PUSH,
    payload: order.payload,
    isQuiet: draft.replacesId !== null,
  } as const;
  // A segment that named lists could not name is a general notification.
  const searched = 'search' in found ? await countTargets(core, provider, found, message) : null;
  const isGeneral =
    'os' in targets || (searched !== null && searched.recipients > SEARCHED_HWIDS_MAX);
  const generalIntervalMs = isGeneral ? GENERAL_INTERVAL_MS : null;
  const guards = { generalIntervalMs, unboundQuota: null, keyed: order.keyed ?? null };
  const added = await add(core, 'notification', 'general_too_soon', draft, guards);
  if (isRefused(added)) return added;
  return { ...added, count: searched ?? (await countFor(core, provider, found, message)) };
}

/**
 * Accepts a remote command. Refuses `device_not_found` for an unknown HWID, `unbound_not_allowed`
 * for an action other than `import-data` to a device that is not attached to the provider,
 * `unbound_quota_exceeded`, sends beyond `SendBounds`, and `malformed` for the key of another call.
 * A repeat with a key sends nothing.
 */
export async function sendCommand(
  core: Core,
  provider: Provider,
  order: Order<CommandPayload>,
  nowMs: number,
): Promise<
  | Accepted
  | Refused<
      | TargetRefusal<typeof findForCommand>
      | 'unbound_quota_exceeded'
      | Bounded<'command'>
      | 'malformed'
    >
> {
  const { payload, targets } = order;
  const found =
    'segment' in targets
      ? await searchForCommand(core, provider, order, targets.segment, nowMs)
      : await findForCommand(core, provider, targets, payload.action_type);
  if (isRefused(found)) return found;
  const { unboundCount, reachesUnbound } = found;
  const draft: NewDistribution = {
    ...draftOf(provider, order, COMMAND_EXPIRE_DAYS, nowMs),
    notificationType: COMMAND,
    actionType: payload.action_type,
    reachesUnbound,
    unboundCount,
  };
  const quota = {
    sinceMs: nowMs - UNBOUND_QUOTA_MS,
    countMax: core.limits.unboundCommandsPerDayMax,
  };
  const unboundQuota = unboundCount === 0 ? null : quota;
  const guards = { generalIntervalMs: null, unboundQuota, keyed: order.keyed ?? null };
  const added = await add(core, 'command', 'unbound_quota_exceeded', draft, guards);
  if (isRefused(added)) return added;
  const message = { type: COMMAND, payload, isQuiet: false } as const;
  return { ...added, count: await countFor(core, provider, found, message) };
}

const NONE_FOUND = { detail: 'the filter finds no device' } as const;

/**
 * Returns the search of a segment as of now; null: it finds no device. A scheduled send may find
 * none yet, because the search is made again at its time.
 */
async function searchOf(
  core: Core,
  provider: Provider,
  { dueAtMs }: Order<unknown>,
  segment: Segment,
  nowMs: number,
  isCommand = false,
): Promise<{ search: DeviceSearch } | null> {
  const search = searchAt(segment, nowMs);
  const isFound = dueAtMs !== null || (await findsAny(core, provider, search, isCommand));
  return isFound ? { search } : null;
}

async function searchForCommand(
  core: Core,
  provider: Provider,
  order: Order<CommandPayload>,
  segment: Segment,
  nowMs: number,
) {
  const found = await searchOf(core, provider, order, segment, nowMs, true);
  return found === null
    ? new Refused('device_not_found', NONE_FOUND)
    : { ...found, unboundCount: 0, reachesUnbound: false };
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
    segment: 'segment' in targets ? segmentText(targets.segment) : null,
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
): Promise<Made | Refused<G | Bounded<K> | 'malformed'>> {
  const { sendsPerMinuteMax, keptBytesMax, ledgerRowsMax } = core.limits;
  const own = { sendsPerMinuteMax, keptBytesMax, ledgerRowsMax };
  const bounds = { ...own, windowMs: SENDS_WINDOW_MS, bytesEach: KEPT_BYTES_EACH };
  const act = actAt(core, draft.createdAtMs);
  const added = await saving<Made | string, Bounded<K>>(
    `${kind}_save_error`,
    core.store.addDistribution(draft, { ...guards, bounds }, act),
  );
  if (typeof added === 'object') {
    if (!isRefused(added)) core.signals.workAccepted();
    return added;
  }
  if (isKeyRefusal(added)) return refusedKey(added);
  if (isReplaceRefusal(added)) return refusedReplacing(added);
  return new Refused(added === guard ? guard : `${kind}_${added as BoundReached}`);
}

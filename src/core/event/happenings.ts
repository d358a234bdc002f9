/**
 * Happenings: the contents of events, made from the changed records. A store calls these functions
 * within the write if a webhook wants the event. Data is flat and small: receivers read details by
 * the ids. It never has a key, a token or the whole code of a link.
 */

import type { Deed } from '../audit/entry.ts';
import { DAY_MS, isoTime } from '../calendar.ts';
import { nowOf } from '../device-reach.ts';
import { BLOCKED, CANCELLED, FAILED } from '../message/status.ts';
import type { Cut } from '../port/cut-off.ts';
import { type DistributionType, PUSH } from '../port/distribution.ts';
import type { EventData, EventKind, Happening } from '../port/event.ts';
import type { RefusalReason, RefusedDevice } from '../port/figure.ts';
import type { TieState } from '../port/link-tie.ts';
import type { DestinationKind } from '../port/outbox.ts';
import type { Phone } from '../port/phone.ts';
import type { LedgerReach } from '../port/receipt.ts';
import type { EndReason } from '../port/slot.ts';
import { subscriptionKeyHash } from '../secret.ts';
import { tidyFact } from '../text.ts';
import type { Quota } from './quota.ts';

/** Most characters of a reason: an event stays far below 20 KB. */
const REASON_LENGTH_MAX = 500;
/** Most characters of a remedy. */
const TODO_LENGTH_MAX = 300;

interface EventLink {
  id: number;
  installLimit: number;
  deviceCount: number;
}

const happening = (kind: Happening['kind'], data: EventData): Happening => ({ kind, data });

export const linkCreated = ({ id, installLimit }: Pick<EventLink, 'id' | 'installLimit'>) =>
  happening('link.created', { install_id: id, install_limit: installLimit });

/** `deed`: the audit entry of the change. */
export const linkUpdated = (link: EventLink & { status: number }, deed: Deed) =>
  happening('link.updated', { ...linkFacts(link), status: link.status, changed: changedIn(deed) });

interface EndedLink {
  id: number;
  /** Devices that had a slot. */
  freedCount: number;
}

/** `hadKey`: the panel must change the key too. */
export const linkRevoked = ({ id, freedCount, hadKey }: EndedLink & { hadKey: boolean }) =>
  happening('link.revoked', { install_id: id, freed: freedCount, had_subscription_key: hadKey });

export const linkRemoved = ({ id, freedCount }: EndedLink) =>
  happening('link.removed', { install_id: id, freed: freedCount });

/** `movedCount`, `leftCount`: devices of the former link, if there is one. */
interface TiedLink {
  /** The link of the code. */
  id: number;
  /** The link that had the key, or has it; null: none. */
  formerId: number | null;
  movedCount: number;
  leftCount: number;
}

/** A key was tied to a link, waits for it, or is its key no more. */
export const linkTied = (
  { id, formerId, movedCount, leftCount }: TiedLink,
  state: TieState,
): Happening =>
  happening('link.tie', {
    install_id: id,
    state,
    former_id: formerId,
    moved: movedCount,
    left_out: leftCount,
  });

/** A cut-off of a link ended. */
export const linkCutOff = ({
  id,
  installId,
  state,
  why,
  deviceCount,
  fetchUntilMs,
}: Pick<Cut, 'id' | 'installId' | 'state' | 'why' | 'deviceCount' | 'fetchUntilMs'>): Happening =>
  happening('link.cut_off', {
    install_id: installId,
    cut_id: id,
    state,
    why: why?.slice(0, REASON_LENGTH_MAX) ?? null,
    devices: fetchUntilMs === null ? 0 : deviceCount,
    fetch_until: isoTime(fetchUntilMs),
  });

/** The last free slot of a link was taken. */
export const linkFull = (link: EventLink) => happening('link.full', linkFacts(link));

/** A link that only counts admitted a device that it would have refused. */
export const linkOverLimit = (link: EventLink, hwid: string) =>
  happening('link.over_limit', { ...linkFacts(link), hwid });

/**
 * `count`: the refusals of the link on the UTC day; `reason` and `device`: those of the last one.
 */
interface Refusals {
  reason: RefusalReason;
  device: RefusedDevice | null;
  count: number;
  day: number;
}

/** The field that the refusals of a phone have, and those of a link have not. */
export const PHONE_COUNT = 'phone_count';

/** The characters of a code in an event: too few to use the code. */
const CODE_SHOWN = 4;

interface RefusingLink {
  id: number;
  installCode?: string;
  /** SHA-256 of its subscription key, hexadecimal. */
  keyHash?: string | null;
  note?: string | null;
  /** 1: its user may free a slot on the page of the link. */
  hasMy?: number;
}

export function linkRefused(
  { id, installCode = '', keyHash, note = null, hasMy = 0 }: RefusingLink,
  { reason, device, count, day }: Refusals,
): Happening {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  return happening('link.refused', {
    install_id: id,
    // A code that is the key of the subscription is a secret.
    code:
      keyHash === subscriptionKeyHash(installCode) ? null : `${installCode.slice(0, CODE_SHOWN)}…`,
    note,
    reason,
    count,
    day: date,
    ...deviceFacts(device),
    ...myFact(hasMy, reason),
  });
}

const deviceFacts = (device: RefusedDevice | null): EventData => ({
  hwid: device?.hwid ?? null,
  device_name: device?.deviceName ?? null,
  os: device?.os ?? null,
  ...(device?.formerHwid && { former_hwid: device.formerHwid }),
});

const myFact = (hasMy: number, reason: RefusalReason): EventData =>
  hasMy === 1 && reason === 'link_limit_reached' ? { has_page: true } : {};

/** The refusal of a phone as chats get it: the first, 10th, 100th … one. Chats get no code. */
export const phoneRefused = (
  { id, note = null, hasMy = 0 }: RefusingLink,
  device: RefusedDevice,
  { reason, count }: Pick<Refusals, 'reason' | 'count'>,
): Happening =>
  happening('link.refused', {
    install_id: id,
    note,
    reason,
    [PHONE_COUNT]: count,
    ...deviceFacts(device),
    ...myFact(hasMy, reason),
  });

export const deviceAdmitted = (link: EventLink, hwid: string) =>
  happening('device.admitted', { ...linkFacts(link), hwid });

interface EndedSlot {
  link: EventLink;
  hwid: string;
  lastSeenAtMs: number;
  /** The new device that took the slot; null: none. */
  newHwid: string | null;
  /** True: the new device is probably the same phone. */
  isSamePhone?: boolean | undefined;
}

/** The kind of event of each end. */
export const KIND_OF_END: Readonly<Record<EndReason, EventKind>> = {
  deleted: 'device.removed',
  forgotten: 'device.removed',
  inactive: 'device.inactive',
  replaced: 'device.replaced',
};

/** `link`: the link without the slot. */
export function slotEnded(
  { link, hwid, lastSeenAtMs, newHwid, isSamePhone = false }: EndedSlot,
  why: EndReason,
  isByUser = false,
): Happening {
  const kind = KIND_OF_END[why];
  if (kind === 'device.removed') {
    return happening(kind, { ...linkFacts(link), hwid, why: isByUser ? 'freed' : why });
  }
  const last_seen_at = isoTime(lastSeenAtMs);
  return happening(kind, {
    install_id: link.id,
    hwid,
    new_hwid: newHwid,
    last_seen_at,
    ...(isSamePhone && { same_phone: true }),
  });
}

/** Several phones send one HWID; none of them has a name, a model or an address here. */
export const hwidCopied = (
  install_id: number,
  hwid: string,
  phones: readonly Pick<Phone, 'family' | 'app' | 'state'>[],
): Happening => {
  const copies = phones.filter(({ state }) => state === 'first' || state === 'certain');
  const systems = copies.map(({ app, family }) => [family, app].filter(Boolean).join(' '));
  return happening('hwid.copied', {
    install_id,
    hwid,
    copies: copies.length,
    systems: systems.filter(Boolean).join(', '),
  });
};

/** More HWIDs were found on several phones on a UTC day than there were events for. */
export const hwidsCopied = (more: number, day: number): Happening =>
  happening('hwid.copied', { more, day: new Date(day * DAY_MS).toISOString().slice(0, 10) });

/** A distribution that has ended. */
export interface EndedDistribution {
  id: number;
  status: number;
  notificationType: DistributionType;
  recipientCount: number;
  sentCount: number;
  failedCount: number;
}

const KIND_OF_STATUS: Readonly<Record<number, EventKind>> = {
  [FAILED]: 'distribution.failed',
  [CANCELLED]: 'distribution.cancelled',
  [BLOCKED]: 'distribution.blocked',
};

/** Returns the kind of event of a distribution that ended with a status. */
export const kindOfEnd = (status: number): EventKind =>
  KIND_OF_STATUS[status] ?? 'distribution.finished';

export const distributionEnded = (ended: EndedDistribution, reach: LedgerReach) =>
  happening(kindOfEnd(ended.status), {
    distribution_id: ended.id,
    type: ended.notificationType === PUSH ? 'notification' : 'command',
    status: ended.status,
    recipients: ended.recipientCount,
    sent: ended.sentCount,
    failed: ended.failedCount,
    reachable: reach.reachable,
    now: nowOf(reach),
    by_push: reach.push,
    at_next_fetch: reach.fetch,
    not_known: reach.unknown,
    cannot: reach.none,
    carried: reach.carried,
    at_least: reach.isAtLeast,
  });

export const quotaReached = (quota: Quota, percent: number, used: number, limit: number) =>
  happening('quota.reached', { quota, percent, used, limit });

/** The provider's event; the operator's is {@link providerKeyRotated}. */
export const keyRotated = (previousKeyUntilMs: number) =>
  happening('key.rotated', { old_key_until: isoTime(previousKeyUntilMs) });

/** The event of a webhook that was disabled because it did not accept its events. */
export const webhookDisabled = (id: number, target: string, why: string) =>
  happening('webhook.disabled', { webhook_id: id, target, why: shortened(why) });

export const providerAdded = (provider_code: string, plan: string) =>
  happening('provider.added', { provider_code, plan });

const KIND_OF_DEED: Readonly<Partial<Record<Deed['action'], EventKind>>> = {
  'provider.suspend': 'provider.suspended',
  'provider.resume': 'provider.resumed',
};

/** `deed`: the audit entry of the change. */
export function providerChanged(
  { code, plan, activeUntilMs }: { code: string; plan: string; activeUntilMs: number | null },
  deed: Deed,
): Happening {
  const kind = KIND_OF_DEED[deed.action];
  if (kind !== undefined) return happening(kind, { provider_code: code });
  const data = { provider_code: code, plan, active_until: isoTime(activeUntilMs) };
  return happening('provider.changed', { ...data, changed: changedIn(deed) });
}

export const providerKeyRotated = (provider_code: string, previousKeyUntilMs: number) =>
  happening('provider.key-rotated', { provider_code, old_key_until: isoTime(previousKeyUntilMs) });

export const providerRemoved = (provider_code: string) =>
  happening('provider.removed', { provider_code });

/** A backup or its copy that fails, or does so no more. */
interface Failing {
  task: 'backup' | 'copy';
  failureCount: number;
  failingSinceMs: number;
}

const failingFacts = ({ task, failureCount, failingSinceMs }: Failing) => ({
  what: task,
  failures: failureCount,
  failing_since: isoTime(failingSinceMs),
});

export const backupFailed = (failing: Failing, reason: string) =>
  happening('backup.failed', { reason: shortened(reason), ...failingFacts(failing) });

export const backupRecovered = (failing: Failing) =>
  happening('backup.recovered', failingFacts(failing));

export const diskLow = (freeBytes: number) => happening('disk.low', { free_bytes: freeBytes });

/** A newer version is available. */
export const releaseAvailable = (version: string, installed: string) =>
  happening('release.available', { version, installed });

/** A finding of the doctor without names. */
interface FoundFact {
  name: string;
  level: string;
  check: string;
  finding: string;
}

export const doctorFound = ({ finding, ...fact }: FoundFact, todo: string) =>
  happening('doctor.found', {
    ...fact,
    finding: shortened(finding),
    todo: shortened(todo, TODO_LENGTH_MAX),
  });

export const doctorOver = ({ finding, ...fact }: FoundFact, sinceMs: number) =>
  happening('doctor.over', { ...fact, finding: shortened(finding), since: isoTime(sinceMs) });

/** The figures of a UTC day over all providers. */
export const doctorFigures = (figures: EventData) => happening('doctor.figures', figures);

/** A gateway was stopped, because it rejects our credentials. */
export const gatewayStopped = (gateway: DestinationKind, problem: string) =>
  happening('gateway.stopped', { gateway, problem: shortened(problem) });

/** A subscription or a certificate ends soon, or has ended. */
export const ending = (
  kind: 'subscription.ending' | 'certificate.ending',
  endsAtMs: number,
  days: number,
) => happening(kind, { days, ends_at: isoTime(endsAtMs) });

export const subscriptionEnded = (endedAtMs: number) =>
  happening('subscription.ended', { ended_at: isoTime(endedAtMs) });

function linkFacts({ id, installLimit, deviceCount }: EventLink): EventData {
  return { install_id: id, install_count: deviceCount, install_limit: installLimit };
}

const changedIn = ({ change }: Deed) => Object.keys(change ?? {}).join(',');

export const shortened = (text: string, lengthMax = REASON_LENGTH_MAX) =>
  tidyFact(text.toWellFormed(), lengthMax);

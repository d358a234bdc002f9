/** The door of a link: every way in which a device asks for a slot. */

import { appNameOf } from './app/find.ts';
import { actAt } from './audit/entry.ts';
import { sameUtcDay } from './calendar.ts';
import { dependsOnPhone } from './copied-hwid.ts';
import type { Core } from './core.ts';
import { changesNoFact, mergeUnproven, refusedDevice, tidyFacts } from './device.ts';
import { AT_DOOR, FullLinkRefused, type RefusedAtDoor } from './door-refusals.ts';
import {
  readDomainHash,
  readHwid,
  readInstallCode,
  readOwnHwid,
  readProviderCode,
} from './formats.ts';
import { newLink } from './link.ts';
import { isRefused, type Misfit, orUnsaved, Refused } from './outcome.ts';
import type { DeviceAtProvider, DeviceFacts } from './port/device.ts';
import type { AdmittedDevice } from './port/link.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { PhoneDoor } from './port/phone.ts';
import type {
  AdmitRefusal,
  AdmittedLink,
  Door,
  LinkName,
  LinkRefusal,
  NoLink,
  SlotKey,
} from './port/slot.ts';
import { keepsPhones, withoutPrivate } from './privacy.ts';
import { isActive } from './provider.ts';
import { subscriptionKeyHash } from './secret.ts';
import { type DoorVerdict, formerHwid, isAdmitted, judge } from './slot.ts';
import { readSubscriptionKey } from './subscription-key.ts';

/** A device's unread parameters. */
export interface DeviceCall {
  /** The code; null: the call has a subscription key, or names no link. */
  installCode: string | null;
  subscriptionKey?: string | null;
  /** The provider of the link; null: any, and a key then needs a binding of the domain. */
  providerCode?: string | null;
  domainHash: string | null;
  hwid: string | null;
  /** False: links without a setting of their own, or of their provider, only count. */
  enforces?: boolean;
  /** True: the link was made for this call. */
  isFirst?: boolean;
  /** True: the HWID stands for the link's apps that send none. */
  isShared?: boolean;
  /** Where the device asks; absent: phones that send one HWID are not told apart. */
  door?: PhoneDoor;
  /** True: the call proves no further phone; known ones are distinguished. */
  isUnproved?: boolean;
  /** Returns the caller's network; null: unknown. */
  address?: () => string | null;
  /** Hears of the link that the call names, and whether its HWID has a slot there. */
  onLink?: (link: AdmittedLink, holdsSlot: boolean) => void;
}

/** The parts of a call that depend on its client. */
export type ClientParts = Required<Pick<DeviceCall, 'address' | 'onLink'>>;

/** Placeholders when only the link is looked up. */
export const ANY_HWID = '?';
const NO_HASH = '0'.repeat(64);

/**
 * Admits a device on a link: takes a slot for a new HWID, refreshes the facts of a known one. The
 * store judges, counts and inserts in one atomic step, so that the limit holds.
 *
 * Refuses `hwid_required`, `link_not_found` (also without an active binding of the domain),
 * `link_disabled` (also a HWID with a slot) and `link_limit_reached` (with the reason `not_named`
 * for a HWID that a link with `whenNew` `refuse` does not have, and `barred` for one that was cut
 * off).
 */
export function admitDevice(
  core: Core,
  call: DeviceCall,
  said: DeviceFacts,
  nowMs: number,
): Maybe<AdmittedDevice | RefusedAtDoor> {
  const reported = withoutPrivate(core, said);
  const key = keyOf(call, reported);
  const caller = { call, facts: reported };
  if (isRefused(key)) return countMisfit(core, call, key, reported, nowMs);
  const admitAt = (key: SlotKey, door: Door): Maybe<AdmittedDevice | RefusedAtDoor> => {
    const verdict = judge(door, core.leastMs(nowMs));
    const { link, device, byHash, isNamed, phone } = door;
    const hwid = phone?.hwid ?? key.hwid;
    call.onLink?.(link, verdict === 'known' && !isNamed);
    if (!isAdmitted(verdict)) return refuseHere(core, { verdict, door, key }, caller, nowMs);
    const facts = factsFrom(reported, device);
    const isKnown = device !== null && !byHash && !isNamed;
    const isToday = isKnown && sameUtcDay(device.lastSeenAtMs, nowMs) && !phone?.isNews;
    if (isToday && changesNoFact(device, facts)) return withFacts(link, device, facts, hwid);
    return after(orUnsaved(isKnown, core.store.takeSlot(key, facts, nowMs)), (taken) => {
      if (taken === null) return withFacts(link, device, facts, hwid);
      const answer = answerOf<AdmittedDevice>(core, taken, caller, nowMs);
      if (isRefused(answer)) return answer;
      const { rides } = link;
      return withFacts(rides ? { ...answer, rides } : answer, device, facts, hwid);
    });
  };
  return after(findDoor(core, { key, call }, reported, nowMs), (found) =>
    typeof found === 'string' ? AT_DOOR[found] : admitAt(found.key, found.door),
  );
}

/** Finds the door for a device, and for the phone that asks if its facts are known. */
function findDoor(
  core: Core,
  { key, call }: { key: SlotKey; call: DeviceCall },
  reported: DeviceFacts | null,
  nowMs: number,
): Maybe<{ key: SlotKey; door: Door } | NoLink> {
  return after(core.store.findSlot(key), (door) => {
    if (typeof door === 'string') return door;
    if (!call.door || reported === null || !keepsPhones(core)) return { key, door };
    const depends = dependsOnPhone(door, key.hwid, reported);
    if (!depends && !door.isKnown) return { key, door };
    const { door: at, isShared = false, isUnproved = false } = call;
    const sighted = { ...key, sight: { door: at, facts: reported, isShared, isUnproved, nowMs } };
    // A new slot of a known device has its first phone by this call.
    if (!depends) return { key: sighted, door };
    return after(core.store.findPhone(door, sighted), (its) =>
      typeof its === 'string' ? its : { key: sighted, door: its },
    );
  });
}

/**
 * Cleans the facts that a device reports. Omits an unknown app if a known one was reported before:
 * `change-user-agent` makes an app send another name, but it reads the same headers.
 */
export function factsFrom(reported: DeviceFacts, known: DeviceFacts | null): DeviceFacts {
  const facts = tidyFacts(reported);
  const before = known?.userAgent ?? '';
  if (before === '' || facts.userAgent === '' || facts.userAgent === before) return facts;
  const isHidden = appNameOf(facts.userAgent) === null && appNameOf(before) !== null;
  return isHidden ? { ...facts, userAgent: '' } : facts;
}

/**
 * Adds the device's facts if any message may ride, and its HWID if the link waits for its fetch;
 * `known` is null for a device without a slot.
 */
function withFacts<Link extends AdmittedLink>(
  link: Link,
  known: DeviceAtProvider | null,
  facts: DeviceFacts,
  hwid: string,
): Link & Pick<AdmittedDevice, 'facts' | 'hwid'> {
  if (link.rides === undefined) return link.awaitsFetch ? { ...link, hwid } : link;
  return { ...link, hwid, facts: known === null ? facts : mergeUnproven(known, facts) };
}

/** Returns the verdict of {@link admitDevice} with its facts. Writes nothing. */
export function verdictOn(
  core: Core,
  call: DeviceCall,
  nowMs: number,
  reported: DeviceFacts | null = null,
): Maybe<{ verdict: DoorVerdict; door: Door; key: SlotKey } | RefusedAtDoor> {
  const key = keyOf(call, reported);
  if (isRefused(key)) return key;
  return after(findDoor(core, { key, call }, reported, nowMs), (found) => {
    if (typeof found === 'string') return AT_DOOR[found];
    const { door } = found;
    const verdict = judge(door, core.leastMs(nowMs));
    call.onLink?.(door.link, verdict === 'known' && !door.isNamed);
    return { ...found, verdict };
  });
}

/** A link, and its refusal of all devices; null: it is active and bound. */
interface JudgedLink {
  link: AdmittedLink;
  says: 'link_domain_not_bound' | 'link_disabled' | null;
  /** True: it admits only HWIDs that are on it. */
  isClosed: boolean;
}

/** Judges the link of a call for any HWID. Writes and counts nothing. */
export function judgeLink(
  core: Core,
  call: DeviceCall,
  nowMs: number,
): Maybe<JudgedLink | RefusedAtDoor> {
  return after(verdictOn(core, call, nowMs), (judged) => {
    if (isRefused(judged)) return judged;
    const { verdict, door } = judged;
    const isShut = verdict === 'link_domain_not_bound' || verdict === 'link_disabled';
    return { link: door.link, says: isShut ? verdict : null, isClosed: verdict === 'not_named' };
  });
}

/** A link that would admit the device. */
interface OpenLink extends AdmittedDevice {
  /** False for a new device, named or not. */
  holdsSlot: boolean;
}

/**
 * Returns the answer of {@link admitDevice} without taking a slot. Counts a refusal, after which
 * the caller must not call that too. `reported` null: the device's facts are not known.
 */
export function judgeDevice(
  core: Core,
  call: DeviceCall,
  nowMs: number,
  said: DeviceFacts | null = null,
): Maybe<OpenLink | RefusedAtDoor> {
  const reported = said && withoutPrivate(core, said);
  return after(verdictOn(core, call, nowMs, reported), (judged) => {
    if (isRefused(judged)) return countMisfit(core, call, judged, reported, nowMs);
    const { verdict, door, key } = judged;
    const { device, link } = door;
    if (!isAdmitted(verdict)) {
      return refuseHere(core, { verdict, door, key }, { call, facts: reported }, nowMs);
    }
    const holdsSlot = verdict === 'known' && !door.isNamed;
    if (link.rides === undefined || reported === null) return { ...link, holdsSlot };
    const facts = factsFrom(reported, device);
    return { ...withFacts(link, device, facts, door.phone?.hwid ?? call.hwid ?? ''), holdsSlot };
  });
}

/**
 * Returns whether a subscription key belonged to a link that was removed or revoked. Such a key
 * makes no link, and its devices get the answer of an unknown link. `codesAsKeys`: the same holds
 * for a key that was the code of such a link.
 */
export async function isKeyEnded(
  core: Core,
  { subscriptionKey, providerCode }: Pick<NewKeyCall, 'subscriptionKey' | 'providerCode'>,
  codesAsKeys: boolean,
): Promise<boolean> {
  const provider = await core.store.findProvider(providerCode);
  if (provider === null) return false;
  const key = { subscriptionKeyHash: subscriptionKeyHash(subscriptionKey) };
  if ((await core.store.findEnded(provider.id, key)) !== null) return true;
  const code = codesAsKeys ? readInstallCode(subscriptionKey) : null;
  if (code === null || isRefused(code)) return false;
  return (await core.store.findEnded(provider.id, { installCode: code })) !== null;
}

/** A call with a subscription key without a link at the provider. */
export interface NewKeyCall {
  subscriptionKey: string;
  providerCode: string;
  domainHash: string;
  hwid: string | null;
  enforces?: boolean;
}

/**
 * Adds a link for a subscription key, with a random code and the slot of the device. If another
 * call has added the link, admits the device as {@link admitDevice} does.
 *
 * Refuses as that does, with `link_not_found` for an unknown or inactive provider, and with
 * `install_code_limit_reached` for a provider at its cap of links.
 */
export async function admitNewKey(
  core: Core,
  call: NewKeyCall,
  { installLimit, note }: { installLimit: number; note: string | null },
  said: DeviceFacts,
  nowMs: number,
): Promise<AdmittedDevice | RefusedAtDoor | Refused<'install_code_limit_reached'>> {
  const reported = withoutPrivate(core, said);
  const key = keyOf({ ...call, installCode: null }, reported);
  if (isRefused(key)) return key;
  const provider = await core.store.findProvider(call.providerCode);
  if (provider === null || !isActive(provider, nowMs)) return AT_DOOR.link_not_found;
  const { subscriptionKey } = call;
  for (;;) {
    const draft = { installCode: null, installLimit, note, subscriptionKey };
    const facts = tidyFacts(reported);
    const link = newLink(core, provider, draft, nowMs);
    const added = await core.store.addLinkWithSlot(link, key, facts, actAt(core, nowMs));
    // The random code is taken.
    if (added === 'install_code_exists') continue;
    if (added === 'install_code_limit_reached') return new Refused(added);
    const answer = answerOf(core, added, { call, facts: reported }, nowMs);
    return isRefused(answer) ? answer : { ...answer, facts, hwid: key.hwid };
  }
}

function answerOf<Link extends AdmittedLink>(
  core: Core,
  taken: Link | LinkRefusal | AdmitRefusal,
  caller: Caller,
  nowMs: number,
): Link | RefusedAtDoor {
  if (typeof taken === 'string') return AT_DOOR[taken];
  return 'says' in taken ? refuse(core, taken, caller, nowMs) : taken;
}

/** A device with a well-formed HWID, or without a HWID. */
type Caller = { call: Pick<DeviceCall, 'hwid' | 'address'>; facts: DeviceFacts | null };

/** Counts and returns the refusal of a known link. */
function refuse(
  core: Core,
  { says, link, door }: LinkRefusal & { door?: Door },
  { call: { hwid, address }, facts }: Caller,
  nowMs: number,
): RefusedAtDoor {
  const former = formerHwid(door?.full ?? null, core.leastMs(nowMs));
  core.store.countRefusal(link, says, nowMs, refusedDevice(hwid ?? '', facts, former, address?.()));
  return says === 'link_limit_reached' ? new FullLinkRefused(link, hwid) : AT_DOOR[says];
}

/** Refuses a device at its door, and saves what that says of the phones of its HWID. */
function refuseHere(
  core: Core,
  { verdict, door, key }: { verdict: LinkRefusal['says']; door: Door; key: SlotKey },
  caller: Caller,
  nowMs: number,
): Maybe<RefusedAtDoor> {
  const refused = refuse(core, { says: verdict, link: door.link, door }, caller, nowMs);
  if (!door.phone?.isNewsOfKnown) return refused;
  return after(orUnsaved(true, core.store.seePhone(key, nowMs)), () => refused);
}

/** Counts the refusal of a call without a look-up, if its link exists. */
function countMisfit(
  core: Core,
  call: DeviceCall,
  refusal: RefusedAtDoor,
  facts: DeviceFacts | null,
  nowMs: number,
): Maybe<RefusedAtDoor> {
  const reason = refusal.reason ?? refusal.says;
  const name = linkNameIn(call);
  if (reason === 'link_not_found' || reason === 'key_ambiguous' || isRefused(name)) return refusal;
  const hash = readDomainHash(call.domainHash);
  const key = { ...name, hwid: ANY_HWID, domainHash: isRefused(hash) ? NO_HASH : hash };
  return after(core.store.findSlot(key), (door) => {
    if (typeof door === 'string') return refusal;
    const hwid = readHwid(call.hwid);
    const device = refusedDevice(isRefused(hwid) ? '' : hwid, facts, null, call.address?.());
    core.store.countRefusal(door.link, reason, nowMs, device);
    return refusal;
  });
}

/** Reads the key of a look-up, or returns the refusal of the first malformed parameter. */
function keyOf(call: DeviceCall, facts: DeviceFacts | null): SlotKey | RefusedAtDoor {
  const hwid = call.isShared ? readHwid(call.hwid) : readOwnHwid(call.hwid);
  if (isRefused(hwid)) return AT_DOOR.hwid_required;
  const name = linkNameIn(call);
  if (isRefused(name)) return AT_DOOR.link_not_found;
  const domainHash = readDomainHash(call.domainHash);
  if (isRefused(domainHash)) return AT_DOOR.link_domain_not_bound;
  const key: SlotKey = { ...name, domainHash, hwid };
  if (call.enforces === false) key.enforces = false;
  if (facts !== null) key.reported = facts;
  if (call.isFirst) key.isFirst = true;
  return key;
}

/** Reads the name of the link, or returns a misfit. */
function linkNameIn({ installCode, subscriptionKey, providerCode }: DeviceCall): LinkName | Misfit {
  const provider = providerCode == null ? null : readProviderCode(providerCode);
  if (isRefused(provider)) return provider;
  if (installCode !== null) {
    const code = readInstallCode(installCode);
    return isRefused(code) ? code : { installCode: code, providerCode: provider };
  }
  const key = readSubscriptionKey(subscriptionKey);
  if (isRefused(key)) return key;
  return { subscriptionKeyHash: subscriptionKeyHash(key), providerCode: provider };
}

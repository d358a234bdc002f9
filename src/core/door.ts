/** The door of a link: every device that asks for a slot comes through here, however it asks. */

import { actAt } from './audit/entry.ts';
import { sameUtcDay } from './calendar.ts';
import type { Core } from './core.ts';
import { saysNothingNew, tidyFacts } from './device.ts';
import {
  readDomainHash,
  readHwid,
  readInstallCode,
  readProviderCode,
  readSubscriptionKey,
} from './formats.ts';
import { newInstall } from './install.ts';
import { isRefused, type Misfit, Refused } from './outcome.ts';
import type { DeviceFacts } from './port/device.ts';
import type { EnteredLink } from './port/install.ts';
import { after, type Maybe } from './port/maybe.ts';
import type {
  AdmitRefusal,
  AdmittedLink,
  Door,
  LinkName,
  SlotKey,
  TurnedAway,
} from './port/slot.ts';
import { isActive } from './provider.ts';
import { subscriptionKeyHash } from './secret.ts';
import { isWelcome, judge, type Verdict } from './slot.ts';

/** A device's words at the door, as they came. */
export interface DeviceCall {
  /** Null: it names a subscription key, or nothing. */
  installCode: string | null;
  subscriptionKey?: string | null;
  /** Narrows to links of the provider; null: a key is that of the one that has the domain too. */
  providerCode?: string | null;
  domainHash: string | null;
  hwid: string | null;
}

/** Refusals at the door, each made once: guesses are many. */
export const AT_DOOR = {
  hwid_required: new Refused('hwid_required'),
  /** The answer for a key or code that no link has, and this very object. */
  link_not_found: new Refused('link_not_found'),
  /** No code beside it stands for such a key: it would open what another provider's link guards. */
  key_ambiguous: new Refused('link_not_found', { reason: 'key_ambiguous' }),
  /** A code tells nothing about domains: the caller hears of no link. */
  link_domain_not_bound: new Refused('link_not_found', { reason: 'link_domain_not_bound' }),
  link_disabled: new Refused('link_disabled'),
  link_limit_reached: new Refused('link_limit_reached'),
} satisfies Record<AdmitRefusal, Refused<string>>;

/** Stand-ins for what a call lacks, where its link alone is looked for. */
export const ANY_HWID = '?';
const NO_HASH = '0'.repeat(64);

export type RefusedAtDoor = (typeof AT_DOOR)[AdmitRefusal];

/**
 * Lets a device in on a link: takes a slot for a new HWID, refreshes the facts of a known one. The
 * cap holds because the store judges, counts and inserts in one atomic step.
 *
 * Refuses `hwid_required`, `link_not_found` (also if the domain is not actively bound to the link's
 * provider), `link_disabled` (also to a HWID already on it), `link_limit_reached`.
 */
export function admitDevice(
  core: Core,
  call: DeviceCall,
  reported: DeviceFacts,
  nowMs: number,
): Maybe<AdmittedLink | RefusedAtDoor> {
  const key = keyOf(call);
  if (isRefused(key)) return countMisfit(core, call, key, nowMs);
  return after(core.store.findSlot(key), (door) => {
    if (typeof door === 'string') return AT_DOOR[door];
    const verdict = judge(door, nowMs);
    const { link, device } = door;
    if (!isWelcome(verdict)) return turnAway(core, { says: verdict, link }, nowMs);
    const facts = tidyFacts(reported);
    const isToday = device !== null && sameUtcDay(device.lastSeenAtMs, nowMs);
    if (isToday && saysNothingNew(device, facts)) return link;
    return after(core.store.takeSlot(key, facts, nowMs), (taken) => answerOf(core, taken, nowMs));
  });
}

/** The same rule as {@link admitDevice}, with its grounds. Writes nothing. */
export function verdictOn(
  core: Core,
  call: DeviceCall,
  nowMs: number,
): Maybe<{ verdict: Verdict; door: Door } | RefusedAtDoor> {
  const key = keyOf(call);
  if (isRefused(key)) return key;
  return after(core.store.findSlot(key), (door) =>
    typeof door === 'string' ? AT_DOOR[door] : { verdict: judge(door, nowMs), door },
  );
}

/** A link whose door is open to a device that has not gone in. */
interface OpenLink extends AdmittedLink {
  /** False for a newcomer. */
  holdsSlot: boolean;
}

/**
 * The answer that {@link admitDevice} would give, for a caller who asks no further when it is a
 * refusal: that counts. Takes no slot.
 */
export function judgeDevice(
  core: Core,
  call: DeviceCall,
  nowMs: number,
): Maybe<OpenLink | RefusedAtDoor> {
  return after(verdictOn(core, call, nowMs), (judged) => {
    if (isRefused(judged)) return countMisfit(core, call, judged, nowMs);
    const { verdict, door } = judged;
    return isWelcome(verdict)
      ? { ...door.link, holdsSlot: verdict === 'known' }
      : turnAway(core, { says: verdict, link: door.link }, nowMs);
  });
}

/** A first call with a subscription key that no link of the provider has. */
interface NewKeyCall {
  subscriptionKey: string;
  providerCode: string;
  domainHash: string;
  hwid: string | null;
}

/**
 * Makes the link of a subscription key, with a random code, and lets the device in that came first:
 * both or neither. However many come at once, the key has one link; those behind the first are let
 * in as {@link admitDevice} does.
 *
 * Refuses as that does, with `link_not_found` for a provider that is unknown or not active, and
 * with `install_code_limit_reached` for one at its cap of links.
 */
export async function admitNewKey(
  core: Core,
  call: NewKeyCall,
  { installLimit, note }: { installLimit: number; note: string | null },
  reported: DeviceFacts,
  nowMs: number,
): Promise<EnteredLink | RefusedAtDoor | Refused<'install_code_limit_reached'>> {
  const key = keyOf({ ...call, installCode: null });
  if (isRefused(key)) return key;
  const provider = await core.store.findProvider(call.providerCode);
  if (provider === null || !isActive(provider, nowMs)) return AT_DOOR.link_not_found;
  const { subscriptionKey } = call;
  for (;;) {
    const draft = { installCode: null, installLimit, note, subscriptionKey };
    const added = await core.store.addInstallWithSlot(
      newInstall(core, provider, draft, nowMs),
      key,
      tidyFacts(reported),
      actAt(core, nowMs),
    );
    // Of 62^12 random codes one was taken: draw again.
    if (added === 'install_code_exists') continue;
    return added === 'install_code_limit_reached'
      ? new Refused(added)
      : answerOf(core, added, nowMs);
  }
}

function answerOf<Link extends AdmittedLink>(
  core: Core,
  taken: Link | TurnedAway | AdmitRefusal,
  nowMs: number,
): Link | RefusedAtDoor {
  if (typeof taken === 'string') return AT_DOOR[taken];
  return 'says' in taken ? turnAway(core, taken, nowMs) : taken;
}

/** Refuses at a link that is there, which counts. */
function turnAway(core: Core, { says, link }: TurnedAway, nowMs: number): RefusedAtDoor {
  core.store.countRefusal(link, says, nowMs);
  return AT_DOOR[says];
}

/** Counts the refusal of a call that nothing was looked up for, if its link is there. */
function countMisfit(
  core: Core,
  call: DeviceCall,
  refusal: RefusedAtDoor,
  nowMs: number,
): Maybe<RefusedAtDoor> {
  const reason = refusal.reason ?? refusal.says;
  const name = nameOf(call);
  if (reason === 'link_not_found' || reason === 'key_ambiguous' || isRefused(name)) return refusal;
  const hash = readDomainHash(call.domainHash);
  const key = { ...name, hwid: ANY_HWID, domainHash: isRefused(hash) ? NO_HASH : hash };
  return after(core.store.findSlot(key), (door) => {
    if (typeof door !== 'string') core.store.countRefusal(door.link, reason, nowMs);
    return refusal;
  });
}

/** The key of a look-up, or the refusal of the first part that cannot be anything's. */
function keyOf(call: DeviceCall): SlotKey | RefusedAtDoor {
  const hwid = readHwid(call.hwid);
  if (isRefused(hwid)) return AT_DOOR.hwid_required;
  const name = nameOf(call);
  if (isRefused(name)) return AT_DOOR.link_not_found;
  const domainHash = readDomainHash(call.domainHash);
  return isRefused(domainHash) ? AT_DOOR.link_domain_not_bound : { ...name, domainHash, hwid };
}

/** The name of the link that a call is about; a misfit if it can be no link's. */
function nameOf({ installCode, subscriptionKey, providerCode }: DeviceCall): LinkName | Misfit {
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

/**
 * Apps without a HWID at the gate. The policy of the link decides, `withoutHwid`:
 *
 * | `withoutHwid` | The app |
 * |---|---|
 * | `refuse` | is refused: `hwid_required` |
 * | `pass` | passes an active, bound link without a slot; is refused where `whenNew` is `refuse` |
 * | `count` | counts as the device {@link sharedHwid}, one for all such apps of the link |
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import {
  ANY_HWID,
  admitDevice,
  type DeviceCall,
  judgeLink,
  type NewKeyCall,
  verdictOn,
} from './door.ts';
import { AT_DOOR, type RefusedAtDoor } from './door-refusals.ts';
import { sharedHwid } from './formats.ts';
import { newLink } from './link.ts';
import { isRefused, Refused } from './outcome.ts';
import type { DeviceFacts } from './port/device.ts';
import { DOMAIN_ACTIVE } from './port/domain.ts';
import type { AdmittedDevice } from './port/link.ts';
import { after, type Maybe } from './port/maybe.ts';
import type { Policy } from './port/slot.ts';
import { isActive } from './provider.ts';

/** The app passes without a slot. */
export const PASSES = 'passes';

/** A call at the gate or the proxy. */
export interface GateCall extends DeviceCall {
  /** A HWID that names no device: it counts only if it has a slot. Then `hwid` is null. */
  junkHwid?: string | null;
  /** The trusted bot that asks: without a HWID it passes, as by `withoutHwid` of `pass`. */
  botId?: number | undefined;
}

/**
 * Returns the call to judge of an app without a HWID: unchanged if it will be refused. Refuses
 * `link_not_found` if no link has the name.
 */
export function settleHwid(
  core: Core,
  call: GateCall,
  nowMs: number,
): Maybe<DeviceCall | typeof PASSES | RefusedAtDoor> {
  if (call.junkHwid != null) {
    const held: GateCall = { ...call, hwid: call.junkHwid, junkHwid: null };
    return after(verdictOn(core, held, nowMs), (judged) =>
      !isRefused(judged) && judged.verdict === 'known'
        ? held
        : settleHwid(core, { ...call, junkHwid: null }, nowMs),
    );
  }
  return after(judgeLink(core, { ...call, hwid: ANY_HWID }, nowMs), (judged) => {
    if (judged === AT_DOOR.link_not_found) return judged;
    if (isRefused(judged)) return call;
    const { isClosed, link, says } = judged;
    return after(core.store.findPolicy(link.installId), (policy) => {
      const way = call.botId === undefined ? (policy?.withoutHwid ?? 'refuse') : 'pass';
      if (way === 'refuse') return call;
      if (way === 'count') return { ...call, hwid: sharedHwid(link.installId), isShared: true };
      // Else all that leave their HWID out would pass.
      if (isClosed && call.botId === undefined) return call;
      if (says === null) return PASSES;
      core.store.countRefusal(link, says, nowMs);
      return AT_DOOR[says];
    });
  });
}

/** Returns whether a call names a link that is bound to its host, whatever its HWID. */
export function namesLink(core: Core, call: DeviceCall, nowMs: number): Maybe<boolean> {
  return after(
    judgeLink(core, { ...call, hwid: ANY_HWID }, nowMs),
    (judged) => !isRefused(judged) && judged.says !== 'link_domain_not_bound',
  );
}

/**
 * Returns the policy of a provider about apps without a HWID, for a key without a link; a trusted
 * bot passes. Nothing passes if the key would make no link: without an active subscription, or an
 * active binding.
 */
export async function wayOfNewKeys(
  { store }: Core,
  {
    providerCode,
    domainHash,
    botId,
  }: Pick<NewKeyCall, 'providerCode' | 'domainHash'> & Pick<GateCall, 'botId'>,
  nowMs: number,
): Promise<Policy['withoutHwid']> {
  const provider = await store.findProvider(providerCode);
  const way = botId === undefined ? (provider?.withoutHwid ?? 'refuse') : 'pass';
  if (provider === null || way !== 'pass') return way;
  const binding = await store.findDomain(provider.id, domainHash);
  return isActive(provider, nowMs) && binding?.status === DOMAIN_ACTIVE ? 'pass' : 'refuse';
}

/**
 * Adds a link for a subscription key, and then the slot of its apps without a HWID, because their
 * HWID contains the id of the link. Refuses as `admitNewKey` does.
 */
export async function admitNewKeyWithoutHwid(
  core: Core,
  call: NewKeyCall,
  { installLimit, note }: { installLimit: number; note: string | null },
  facts: DeviceFacts,
  nowMs: number,
): Promise<AdmittedDevice | RefusedAtDoor | Refused<'install_code_limit_reached'>> {
  const provider = await core.store.findProvider(call.providerCode);
  if (provider === null || !isActive(provider, nowMs)) return AT_DOOR.link_not_found;
  const binding = await core.store.findDomain(provider.id, call.domainHash);
  if (binding?.status !== DOMAIN_ACTIVE) return AT_DOOR.link_domain_not_bound;
  const { subscriptionKey } = call;
  const draft = { installCode: null, installLimit, note, subscriptionKey };
  const act = actAt(core, nowMs);
  for (;;) {
    const made = { ...newLink(core, provider, draft, nowMs), isOfGate: true };
    const added = await core.store.addLink(made, act);
    // The random code is taken.
    if (added === 'install_code_exists' || added === 'install_code_ended') continue;
    if (added === 'subscription_key_ended') return AT_DOOR.link_not_found;
    if (added === 'install_code_limit_reached') return new Refused(added);
    const settled = await settleHwid(core, { ...call, installCode: null }, nowMs);
    if (settled === PASSES) return AT_DOOR.link_not_found;
    if (isRefused(settled)) return settled;
    const isFirst = typeof added === 'object';
    const admitted = await admitDevice(core, { ...settled, isFirst }, facts, nowMs);
    if (isRefused(admitted) || !isFirst) return admitted;
    return { ...admitted, isNew: true };
  }
}

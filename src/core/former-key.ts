/**
 * Keys that a link of an older version has in another spelling: versions before 0.18.0 stored what
 * came, in Unicode form NFKC.
 *
 * | The spellings | The request | counts on |
 * |---|---|---|
 * | are one customer's | GET | the link of the key, which has joined the other one |
 * | are one customer's | HEAD | the link on which the device has a slot |
 * | may be two customers' | of a device with a slot on the link of the other spelling | that link |
 * | may be two customers' | of another device | the link of the key |
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { ANY_HWID, type DeviceCall, verdictOn } from './door.ts';
import type { FormerKey } from './key-path.ts';
import { isRefused } from './outcome.ts';
import { subscriptionKeyHash } from './secret.ts';
import { PASSES, settleHwid } from './without-hwid.ts';

/** A call with the key of a link. */
type KeyedCall = DeviceCall & { subscriptionKey: string };

/**
 * Returns the call with the spelling of its key that counts. `mayJoin` is false for HEAD, which
 * changes nothing.
 */
export async function callOfKey(
  core: Core,
  call: KeyedCall,
  { key, isSame }: FormerKey,
  mayJoin: boolean,
  nowMs: number,
): Promise<KeyedCall> {
  const before = { ...call, subscriptionKey: key };
  if (isSame && mayJoin) {
    const found = await verdictOn(core, { ...before, hwid: ANY_HWID }, nowMs);
    if (isRefused(found) || !found.door.isBound) return call;
    const { installId, providerId } = found.door.link;
    const keyHash = subscriptionKeyHash(call.subscriptionKey);
    await core.store.joinLinks({ providerId, installId, keyHash }, actAt(core, nowMs));
    return call;
  }
  const isKnown = await holdsSlot(core, call, nowMs);
  return !isKnown && (await holdsSlot(core, before, nowMs)) ? before : call;
}

/**
 * Returns true if the device has a slot on the link of a call, or passes it without one. Counts
 * nothing if it has not.
 */
export async function holdsSlot(core: Core, call: DeviceCall, nowMs: number): Promise<boolean> {
  const settled = call.hwid === null ? await settleHwid(core, call, nowMs) : call;
  if (settled === PASSES) return true;
  if (isRefused(settled)) return false;
  const judged = await verdictOn(core, settled, nowMs);
  return !isRefused(judged) && judged.verdict === 'known';
}

/**
 * Tokens that a panel signed for an earlier customer of the same name. The panel refuses them; the
 * gate must too, because it does not see the answer of the panel.
 */

import type { Core } from './core.ts';
import { ANY_HWID, type DeviceCall, verdictOn } from './door.ts';
import { isRefused } from './outcome.ts';
import { after, type Maybe } from './port/maybe.ts';
import { subscriptionKeyHash } from './secret.ts';

/** Tokens have whole seconds. */
const ROUNDING_MS = 1_000;

/**
 * Returns whether a token is older than its user, by the time of creation that the last import
 * noted. Reads nothing more for a device that holds a slot of the link.
 */
export function isOutdated(
  core: Core,
  call: DeviceCall & { subscriptionKey: string },
  signedAtMs: number,
  nowMs: number,
): Maybe<boolean> {
  return after(verdictOn(core, { ...call, hwid: call.hwid ?? ANY_HWID }, nowMs), (judged) => {
    if (isRefused(judged) || judged.verdict === 'known') return false;
    const { providerId } = judged.door.link;
    const keyHash = subscriptionKeyHash(call.subscriptionKey);
    return after(core.store.findPanelFacts(providerId, keyHash), (facts) => {
      const createdAtMs = facts?.panelCreatedAtMs ?? null;
      return createdAtMs !== null && signedAtMs + ROUNDING_MS <= createdAtMs;
    });
  });
}

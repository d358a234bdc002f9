/** Registration for messages: the token that opens a device's inboxes. */

import type { Core } from '../core.ts';
import { tidyFacts } from '../device.ts';
import { AT_DOOR } from '../door-refusals.ts';
import { readDomainHash, readInstallCode, readProviderCode } from '../formats.ts';
import { isRefused, Refused } from '../outcome.ts';
import type { DeviceFacts } from '../port/device.ts';
import type { PushAddress, RegisterRefusal, Shown } from '../port/registration.ts';
import { keepsPhones, withoutPrivate } from '../privacy.ts';
import { hashKey, randomToken } from '../secret.ts';

export interface Registration {
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress | null;
  installCode: string | null;
  domainHash: string | null;
  providerCode: string | null;
  /** True: the device must have a slot on the link, and takes no place from another token. */
  isBySlot?: boolean;
  /** The present token of the device; null: it shows none. */
  token: string | null;
}

const REFUSALS = {
  ...AT_DOOR,
  provider_not_found: new Refused('provider_not_found'),
  domain_not_bound: new Refused('domain_not_bound'),
  registration_refused: new Refused('registration_refused'),
} satisfies Record<RegisterRefusal, Refused<string>>;

type RegistrationRefused = (typeof REFUSALS)[RegisterRefusal];

/**
 * Registers a device for messages by REGISTRATION_RULE of registration-rule.ts, and returns its new
 * token. The new token replaces a shown one in all of its places; else it gets the claimed place
 * alone, which another token may lose. A token without a place is revoked. Evidence attaches the
 * device.
 *
 * The token also gets the HWID's unattached place if that is free, for as long as the token has a
 * place at a provider; a token that was registered without evidence keeps it anyway.
 *
 * Refuses as `admitDevice` does, and `link_not_found` for a registration by a slot without one;
 * `provider_not_found` and `domain_not_bound` for a missing binding, and `registration_refused` by
 * the rule. A refusal changes nothing.
 */
export async function registerDevice(
  core: Core,
  registration: Registration,
  nowMs: number,
): Promise<{ deviceId: number; token: string } | RegistrationRefused> {
  const { hwid, facts, locale, push, token: held } = registration;
  const shown = shownIn(registration);
  if (isRefused(shown)) return shown;
  const token = randomToken();
  const registered = await core.store.registerDevice({
    hwid,
    facts: tidyFacts(withoutPrivate(core, facts)),
    isPrivate: !keepsPhones(core),
    locale,
    push,
    shown,
    tokenHash: hashKey(token),
    heldTokenHash: held === null ? null : hashKey(held),
    nowMs,
  });
  if (typeof registered === 'string') return REFUSALS[registered];
  // Streams whose token was revoked must end.
  core.signals.messagesFor(registered.deviceId);
  return { deviceId: registered.deviceId, token };
}

function shownIn({
  installCode,
  domainHash: hash,
  providerCode,
  isBySlot,
}: Registration): Shown | RegistrationRefused {
  const domainHash = readDomainHash(hash);
  if (installCode !== null) {
    if (isRefused(readInstallCode(installCode))) return REFUSALS.link_not_found;
    if (isRefused(domainHash)) return REFUSALS.link_domain_not_bound;
    return { kind: isBySlot ? 'slot' : 'link', installCode, domainHash };
  }
  if (providerCode === null) return { kind: 'nothing', providerCode };
  if (isRefused(readProviderCode(providerCode))) return REFUSALS.provider_not_found;
  if (hash === null) return { kind: 'nothing', providerCode };
  if (isRefused(domainHash)) return REFUSALS.domain_not_bound;
  return { kind: 'binding', providerCode, domainHash };
}

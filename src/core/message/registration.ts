/** Registration for messages: who may have a HWID's messages, and the token that opens them. */

import type { Core } from '../core.ts';
import { tidyFacts } from '../device.ts';
import { AT_DOOR } from '../door.ts';
import { readDomainHash, readInstallCode, readProviderCode } from '../formats.ts';
import { isRefused, Refused } from '../outcome.ts';
import type { DeviceFacts } from '../port/device.ts';
import type { PushAddress, RegisterRefusal, Shown } from '../port/registration.ts';
import { hashKey, randomToken } from '../secret.ts';

export interface Registration {
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress | null;
  installCode: string | null;
  domainHash: string | null;
  providerCode: string | null;
  /** The token that the device holds already, if it sent one. */
  token: string | null;
}

const REFUSALS = {
  ...AT_DOOR,
  provider_not_found: new Refused('provider_not_found'),
  domain_not_bound: new Refused('domain_not_bound'),
  registration_refused: new Refused('registration_refused'),
} satisfies Record<RegisterRefusal, Refused<string>>;

/** Refusals of `GET /install`, and those of registrations alone. */
type RegistrationRefused = (typeof REFUSALS)[RegisterRefusal];

/**
 * Registers a device for messages and returns its token, for the only time. The token that was
 * shown dies, and the new one has all its places; if none was shown, the new one has the place that
 * it claims, and another token loses no more than that. A token without a place is dead.
 *
 * A registration also takes the HWID's place of nobody if that is free. The token keeps that for as
 * long as it has a place at a provider; one that was registered with nothing shown keeps it anyway.
 * REGISTRATION_RULE in registration-rule.ts says who may have what. Evidence that is shown attaches
 * the device.
 *
 * Refuses as `admitDevice` does, with `provider_not_found` and `domain_not_bound` for a binding
 * that is not there, and with `registration_refused` by the rule. A refusal changes nothing.
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
    facts: tidyFacts(facts),
    locale,
    push,
    shown,
    tokenHash: hashKey(token),
    heldTokenHash: held === null ? null : hashKey(held),
    nowMs,
  });
  if (typeof registered === 'string') return REFUSALS[registered];
  // A stream with a token that lost something has to find out.
  core.signals.messagesFor(registered.deviceId);
  return { deviceId: registered.deviceId, token };
}

function shownIn({
  installCode,
  domainHash: hash,
  providerCode,
}: Registration): Shown | RegistrationRefused {
  const domainHash = readDomainHash(hash);
  if (installCode !== null) {
    if (isRefused(readInstallCode(installCode))) return REFUSALS.link_not_found;
    if (isRefused(domainHash)) return REFUSALS.link_domain_not_bound;
    return { kind: 'link', installCode, domainHash };
  }
  if (providerCode === null) return { kind: 'nothing', providerCode };
  if (isRefused(readProviderCode(providerCode))) return REFUSALS.provider_not_found;
  if (hash === null) return { kind: 'nothing', providerCode };
  if (isRefused(domainHash)) return REFUSALS.domain_not_bound;
  return { kind: 'binding', providerCode, domainHash };
}

/** Calls of the console about the domains of a provider. */

import { LOOK, OWN } from '../core/account/roles.ts';
import type { Core } from '../core/core.ts';
import { addDomain, deleteDomain } from '../core/domain.ts';
import { readDomainHash, readOneLine } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { type DoerFor, lookCall, sharedCall } from './call.ts';
import { atProvider, id, text } from './inputs.ts';

const ANY_DEVICE = { installCode: null, os: null };

const allDomains = (core: Core, providerId: number) =>
  core.store.listDomains(providerId, {
    id: null,
    beforeId: null,
    countMax: core.limits.domainsPerProviderMax,
  });

/** Returns whether the provider has a domain at which devices are admitted. */
export const hasActiveDomain = async (core: Core, providerId: number): Promise<boolean> =>
  (await allDomains(core, providerId)).some(({ status }) => status === DOMAIN_ACTIVE);

export const domainCalls = {
  /** Returns the completed steps of the setup: domain, link, device. */
  'setup.read': lookCall(LOOK, atProvider({}), async ({ core, provider }) => {
    const [hasDomain, devices] = await Promise.all([
      hasActiveDomain(core, provider.id),
      core.store.listDevices({ providerCode: provider.code, countMax: 1, ...ANY_DEVICE }),
    ]);
    return {
      hasDomain,
      hasLink: provider.installCount > 0,
      hasDevice: devices.length > 0,
    };
  }),
  'domains.list': lookCall(LOOK, atProvider({}), ({ core, provider }) =>
    allDomains(core, provider.id),
  ),
  'domains.add': sharedCall(
    OWN,
    ['domain.add', 'domain.activate', 'domain.rename'],
    { commands: ['domain add'] },
    atProvider({ hash: text(64), name: text(255) }),
    async ({ core, nowMs, provider }: DoerFor, given) => {
      const hash = readDomainHash(given.hash);
      if (isRefused(hash)) return hash;
      const name = given.name === '' ? null : readOneLine(given.name);
      if (isRefused(name)) return name;
      return addDomain(core, provider, hash, name, nowMs);
    },
  ),
  'domains.delete': sharedCall(
    OWN,
    ['domain.delete'],
    { commands: ['domain remove'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) => deleteDomain(core, provider, given.id, nowMs),
  ),
};

/** Calls of the console about the domains of a provider. */

import { addDomain, deleteDomain } from '../../core/domain.ts';
import { readDomainHash, readOneLine } from '../../core/formats.ts';
import { isRefused } from '../../core/outcome.ts';
import { staffCall } from './call.ts';
import { atProvider, id, text } from './inputs.ts';
import { unpaid } from './paid.ts';

export const domainCalls = {
  'domains.list': staffCall(atProvider({}), async ({ core, provider }) => {
    const page = { id: null, beforeId: null, countMax: core.limits.domainsPerProviderMax };
    return core.store.listDomains(provider.id, page);
  }),
  'domains.add': staffCall(
    atProvider({ hash: text(64), name: text(255) }),
    async (staff, given) => {
      const { core, nowMs, provider } = staff;
      const refusal = unpaid(staff);
      if (refusal !== null) return refusal;
      const hash = readDomainHash(given.hash);
      if (isRefused(hash)) return hash;
      const name = given.name === '' ? null : readOneLine(given.name);
      if (isRefused(name)) return name;
      return addDomain(core, provider, hash, name, nowMs);
    },
  ),
  'domains.delete': staffCall(atProvider({ id }), async (staff, given) => {
    const refusal = unpaid(staff);
    return refusal ?? deleteDomain(staff.core, staff.provider, given.id, staff.nowMs);
  }),
};

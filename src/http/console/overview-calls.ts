/** Calls of the console: the overview of a provider, and the providers. */

import { lastDays, listFigures } from '../../core/figures.ts';
import { ownerCall, staffCall } from './call.ts';
import { atProvider, inputOf } from './inputs.ts';

const OVERVIEW_DAYS = 14;
const REFUSALS_COUNT = 5;
const DAY_MS = 86_400_000;

export const overviewCalls = {
  'overview.read': staffCall(atProvider({}), async ({ core, nowMs, provider }) => {
    const { fromDay, toDay } = lastDays(OVERVIEW_DAYS, nowMs);
    const of = { providerCode: provider.code, status: null, isFull: true };
    const [days, refusals, fullCount] = await Promise.all([
      listFigures(core, provider.id, fromDay, toDay),
      core.store.listRefusals(provider.id, nowMs - DAY_MS, REFUSALS_COUNT),
      core.store.countLinks(of),
    ]);
    const { activeUntilMs, code, installCount, name, plan, suspendedAtMs } = provider;
    const linkCountMax = provider.installCountMax ?? core.limits.linksPerProviderMax;
    return {
      ...{ code, name, plan, activeUntilMs, isSuspended: suspendedAtMs !== null },
      ...{ linkCount: installCount, linkCountMax, fullCount, days, refusals },
    };
  }),
  'providers.list': ownerCall(inputOf({}), async ({ core }) => {
    const all = await core.store.listProviders();
    return all.map(({ code, installCount, name, plan }) => ({
      ...{ code, name, plan, linkCount: installCount },
    }));
  }),
};

/** Calls of the console about the overview of a provider. */

import { LOOK } from '../core/account/roles.ts';
import { readMix } from '../core/device-mix.ts';
import { lastDays, listFigures } from '../core/figures.ts';
import { PUSH } from '../core/port/distribution.ts';
import { isActive } from '../core/provider.ts';
import { linksMaxOf, readQuotas } from '../core/quotas.ts';
import { seesCodes, shownCode } from '../core/secret-code.ts';
import { lookCall } from './call.ts';
import { hasActiveDomain } from './domain-calls.ts';
import { atProvider } from './inputs.ts';

const OVERVIEW_DAYS = 14;
const REFUSALS_COUNT = 5;
/** The most scheduled sends that are shown. */
const NEXT_COUNT = 5;
const DAY_MS = 86_400_000;

export const overviewCalls = {
  'overview.read': lookCall(LOOK, atProvider({}), async ({ core, nowMs, provider, signedIn }) => {
    const { fromDay, toDay } = lastDays(OVERVIEW_DAYS, nowMs);
    const of = { providerCode: provider.code, status: null, isFull: true };
    const [days, refusals, fullCount, copiedCount, mix, next, webhooks, quotas, hasDomain] =
      await Promise.all([
        listFigures(core, provider.id, fromDay, toDay),
        core.store.listRefusals(provider.id, nowMs - DAY_MS, REFUSALS_COUNT),
        core.store.countLinks(of),
        core.store.countLinks({ ...of, isFull: false, isCopied: true }),
        readMix(core, provider.id, nowMs),
        core.store.listNextMessages(provider.id, nowMs, NEXT_COUNT),
        core.store.listWebhooks(provider.id),
        readQuotas(core, provider, nowMs),
        hasActiveDomain(core, provider.id),
      ]);
    const refusedIds = refusals.map(({ installId }) => installId);
    const refused = await core.store.listLinksById(provider.id, refusedIds);
    const noteOf = new Map(refused.map(({ id, note }) => [id, note]));
    const { activeUntilMs, code, installCount, name, plan, suspendedAtMs } = provider;
    const isWhole = seesCodes(core, provider, signedIn.grants);
    return {
      code,
      name,
      plan,
      activeUntilMs,
      isSuspended: suspendedAtMs !== null,
      isActive: isActive(provider, nowMs),
      fullCount,
      copiedCount,
      days,
      refusals: refusals.map((one) => ({
        ...one,
        note: noteOf.get(one.installId) ?? null,
        installCode: isWhole ? one.installCode : shownCode(one.installCode),
      })),
      mix,
      quotas,
      hasDomain,
      linkCount: installCount,
      linkCountMax: linksMaxOf(core, provider),
      disabledWebhookCount: webhooks.filter(({ disabled }) => disabled !== null).length,
      next: next.map(({ id, dueAtMs, notificationType, segment, targetHwid, targetOs }) => ({
        id,
        dueAtMs,
        isPush: notificationType === PUSH,
        hwidCount: targetHwid === '' ? 0 : targetHwid.split(',').length,
        os: targetOs,
        isByFilter: segment !== null,
      })),
    };
  }),
};

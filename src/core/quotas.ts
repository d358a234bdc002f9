/**
 * The used part of a provider's quotas. All numbers are counted already, so reading them is cheap.
 */

import { KEYS_MAX } from './account/keys.ts';
import type { Core } from './core.ts';
import type { Provider } from './port/provider.ts';
import { SENDS_WINDOW_MS } from './send.ts';

type QuotaName = 'links' | 'domains' | 'webhooks' | 'keys' | 'sends' | 'kept_bytes' | 'ledger_rows';

interface QuotaUse {
  name: QuotaName;
  used: number;
  max: number;
}

/** Returns the most links that a provider may have. */
export const linksMaxOf = ({ limits }: Core, { installCountMax }: Provider): number =>
  installCountMax ?? limits.linksPerProviderMax;

/** Reads the usage of a provider; `sends` are those of the current minute. */
export async function readQuotas(
  core: Core,
  provider: Provider,
  nowMs: number,
): Promise<QuotaUse[]> {
  const { limits, store } = core;
  const page = { id: null, beforeId: null, countMax: limits.domainsPerProviderMax };
  const [domains, webhooks, keys, sends] = await Promise.all([
    store.listDomains(provider.id, page),
    store.listWebhooks(provider.id),
    store.listKeys(provider.id),
    store.readSendUsage(provider.id),
  ]);
  const isInWindow = Math.abs(nowMs - (sends?.sendsFromMs ?? 0)) < SENDS_WINDOW_MS;
  return [
    { name: 'links', used: provider.installCount, max: linksMaxOf(core, provider) },
    { name: 'domains', used: domains.length, max: limits.domainsPerProviderMax },
    { name: 'webhooks', used: webhooks.length, max: limits.webhooksPerOwnerMax },
    { name: 'keys', used: keys.length, max: KEYS_MAX },
    {
      name: 'sends',
      max: limits.sendsPerMinuteMax,
      used: isInWindow ? (sends?.sendCount ?? 0) : 0,
    },
    { name: 'kept_bytes', used: sends?.keptBytes ?? 0, max: limits.keptBytesMax },
    { name: 'ledger_rows', used: sends?.ledgerCount ?? 0, max: limits.ledgerRowsMax },
  ];
}

/** Bindings: the subscription domains of a provider, each stored as its SHA-256. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { hostHash } from './host-name.ts';
import { fromStore, isRefused, type Refused, saving } from './outcome.ts';
import { DOMAIN_ACTIVE } from './port/domain.ts';
import type { Provider } from './port/provider.ts';
import { activityWord } from './status-word.ts';

/**
 * Binds a hash to a provider. Returns `domain_exists` for a bound hash, `domain_activated` for a
 * disabled one, which keeps its id; a given name replaces the old one in both cases. Refuses
 * `domain_limit_reached` for a new one beyond `domainsPerProviderMax`, `domain_save_error` and
 * `domain_activate_error` if it could not be saved.
 */
export async function addDomain(
  core: Core,
  provider: Pick<Provider, 'id'>,
  domainHash: string,
  domainName: string | null,
  nowMs: number,
): Promise<
  | { says: 'ok' | 'domain_exists' | 'domain_activated'; id: number }
  | Refused<'domain_limit_reached' | 'domain_save_error' | 'domain_activate_error'>
> {
  const added = await bind(core, provider, domainHash, domainName, nowMs);
  if (isRefused(added)) return added;
  if (added.outcome === 'added') return { says: 'ok', id: added.id };

  const activated = await saving(
    'domain_activate_error',
    core.store.activateDomain(provider.id, added.id, domainName, actAt(core, nowMs)),
  );
  if (isRefused(activated)) return activated;
  return { says: activated === 'activated' ? 'domain_activated' : 'domain_exists', id: added.id };
}

/**
 * Disables a binding, which stays in lists; also one that is disabled. Refuses `domain_not_found`
 * if the provider has none with the id, `domain_delete_error` if it could not be saved.
 */
export async function deleteDomain(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'domain_not_found' | 'domain_delete_error'>> {
  const disabled = core.store.disableDomain(provider.id, id, actAt(core, nowMs));
  return fromStore(await saving('domain_delete_error', disabled));
}

/**
 * Binds the host of a panel behind Gatepost to its provider. Returns `bound` for a new binding,
 * `active` or `disabled` for an existing one, which stays unchanged. Refuses `domain_limit_reached`
 * and `domain_save_error` as {@link addDomain} does.
 */
export async function bindHost(
  core: Core,
  provider: Pick<Provider, 'id'>,
  host: string,
  nowMs: number,
): Promise<
  'bound' | 'active' | 'disabled' | Refused<'domain_limit_reached' | 'domain_save_error'>
> {
  const hash = hostHash(host);
  // Most bindings exist: then the start of the server waits for no write.
  const known = await core.store.findDomain(provider.id, hash);
  if (known !== null) return activityWord(known.status === DOMAIN_ACTIVE);
  const added = await bind(core, provider, hash, host, nowMs);
  return isRefused(added) ? added : 'bound';
}

/** Adds an active binding unless the hash has one. */
async function bind(
  core: Core,
  provider: Pick<Provider, 'id'>,
  domainHash: string,
  domainName: string | null,
  nowMs: number,
) {
  const draft = {
    providerId: provider.id,
    domainHash,
    domainName: domainName ?? domainHash.slice(0, 10),
    createdAtMs: nowMs,
    domainCountMax: core.limits.domainsPerProviderMax,
  };
  const step = core.store.addDomain(draft, actAt(core, nowMs));
  return fromStore(await saving('domain_save_error', step));
}

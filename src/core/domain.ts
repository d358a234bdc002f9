/** Bindings: the subscription domains of a provider, each known by its SHA-256. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { hostHash } from './host-name.ts';
import { fromStore, isRefused, type Refused, saving } from './outcome.ts';
import { DOMAIN_ACTIVE } from './port/domain.ts';
import type { Provider } from './port/provider.ts';

/**
 * Binds a hash to a provider. A hash bound already is `domain_exists`, or `domain_activated` if it
 * was disabled and is active again with its old id; in both cases a given name replaces the old.
 * Refuses `domain_limit_reached` for a new one beyond `domainsPerProviderMax`, and
 * `domain_save_error` or `domain_activate_error` for what could not be saved.
 */
export async function addDomain(
  core: Core,
  provider: Provider,
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
 * Disables a binding; it stays in the list. Deleting it twice succeeds. Refuses `domain_not_found`
 * for an id that is unknown or another provider's, `domain_delete_error` for what could not be
 * saved.
 */
export async function deleteDomain(
  core: Core,
  provider: Provider,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'domain_not_found' | 'domain_delete_error'>> {
  const disabled = core.store.disableDomain(provider.id, id, actAt(core, nowMs));
  return fromStore(await saving('domain_delete_error', disabled));
}

/**
 * Sees to it that the host of a panel in front of which Gatepost stands is bound to its provider.
 * `bound` if it is now, `active` or `disabled` as it was before: one that somebody disabled stays
 * so. Refuses `domain_limit_reached` and `domain_save_error` as {@link addDomain} does.
 */
export async function bindHost(
  core: Core,
  provider: Provider,
  host: string,
  nowMs: number,
): Promise<
  'bound' | 'active' | 'disabled' | Refused<'domain_limit_reached' | 'domain_save_error'>
> {
  const hash = hostHash(host);
  // Nearly always it is there: no start of the server waits for a write then.
  const known = await core.store.findDomain(provider.id, hash);
  if (known !== null) return known.status === DOMAIN_ACTIVE ? 'active' : 'disabled';
  const added = await bind(core, provider, hash, host, nowMs);
  return isRefused(added) ? added : 'bound';
}

/** Adds an active binding, if the hash has none yet. */
async function bind(
  core: Core,
  provider: Provider,
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

/** Bindings: the subscription domains of a provider, each known by its SHA-256. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { type Refused, saving } from './outcome.ts';
import type { Domain } from './port/domain.ts';
import type { Maybe } from './port/maybe.ts';
import type { Page } from './port/page.ts';
import type { Provider } from './port/provider.ts';

export type AddDomainOutcome =
  | { says: 'ok' | 'domain_exists' | 'domain_activated'; id: number }
  | 'domain_limit_reached'
  | Refused<'domain_save_error' | 'domain_activate_error'>;

/**
 * Binds a hash to a provider. A hash bound already is `domain_exists`, or `domain_activated` if it
 * was disabled and is active again with its old id; in both cases a given name replaces the old.
 * Refuses `domain_limit_reached` for a new one beyond `domainsPerProviderMax`.
 */
export async function addDomain(
  core: Core,
  provider: Provider,
  domainHash: string,
  domainName: string | null,
  nowMs: number,
): Promise<AddDomainOutcome> {
  const act = actAt(core, nowMs);
  const added = await saving(
    'domain_save_error',
    core.store.addDomain(
      {
        providerId: provider.id,
        domainHash,
        domainName: domainName ?? domainHash.slice(0, 10),
        createdAtMs: nowMs,
        domainCountMax: core.domainsPerProviderMax,
      },
      act,
    ),
  );
  if (typeof added === 'string' || !('id' in added)) return added;
  if (added.outcome === 'added') return { says: 'ok', id: added.id };

  const activated = await saving(
    'domain_activate_error',
    core.store.activateDomain(provider.id, added.id, domainName, act),
  );
  if (typeof activated !== 'string') return activated;
  return { says: activated === 'activated' ? 'domain_activated' : 'domain_exists', id: added.id };
}

/**
 * Disables a binding; it stays in the list. Deleting it twice succeeds. Refuses `domain_not_found`
 * for an id that is unknown or another provider's.
 */
export function deleteDomain(
  core: Core,
  provider: Provider,
  id: number,
  nowMs: number,
): Promise<'ok' | 'domain_not_found' | Refused<'domain_delete_error'>> {
  return saving(
    'domain_delete_error',
    core.store.disableDomain(provider.id, id, actAt(core, nowMs)),
  );
}

/** The provider's bindings, newest first. */
export function listDomains(core: Core, provider: Provider, page: Page): Maybe<Domain[]> {
  return core.store.listDomains(provider.id, page);
}

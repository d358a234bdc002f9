/** Bindings of domains: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { Page } from './page.ts';

export const DOMAIN_DISABLED = 5;
export const DOMAIN_ACTIVE = 10;

/** The fields that can be set; core/domain-fields.ts has a row for each. */
export interface OwnBinding {
  domainName: string;
  /** {@link DOMAIN_DISABLED} or {@link DOMAIN_ACTIVE}. */
  status: number;
}

export interface Domain extends OwnBinding {
  id: number;
  domainHash: string;
  createdAtMs: number;
}

export interface NewDomain {
  providerId: number;
  domainHash: string;
  domainName: string;
  createdAtMs: number;
  /** Most bindings of the provider, the new one included. */
  domainCountMax: number;
}

export interface DomainStore {
  /**
   * Adds a binding. Returns `exists` with the id of the binding that has the hash, even at the cap;
   * `domain_limit_reached` if a new one would exceed `domainCountMax`.
   */
  addDomain(
    draft: NewDomain,
    act: Act,
  ): Promise<{ outcome: 'added' | 'exists'; id: number } | 'domain_limit_reached'>;
  /** Activates a binding, and renames it unless `domainName` is null. */
  activateDomain(
    providerId: number,
    id: number,
    domainName: string | null,
    act: Act,
  ): Promise<'activated' | 'was_active'>;
  /** Disables a binding. Returns `domain_not_found` if the provider has none with the id. */
  disableDomain(providerId: number, id: number, act: Act): Promise<'ok' | 'domain_not_found'>;
  /** Finds the provider's binding with the hash, active or disabled; null: it has none. */
  findDomain(providerId: number, domainHash: string): Maybe<Domain | null>;
  /** Lists the provider's bindings, newest first. */
  listDomains(providerId: number, page: Page): Maybe<Domain[]>;
}

/** Bindings: their records, and the part of the port that remembers them. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';
import type { Page } from './page.ts';

export const DOMAIN_DISABLED = 5;
export const DOMAIN_ACTIVE = 10;

export interface Domain {
  id: number;
  domainName: string;
  domainHash: string;
  /** {@link DOMAIN_DISABLED} or {@link DOMAIN_ACTIVE}. */
  status: number;
  createdAtMs: number;
}

export interface NewDomain {
  providerId: number;
  domainHash: string;
  domainName: string;
  createdAtMs: number;
  /** The provider may not have more bindings than this, the new one included. */
  domainCountMax: number;
}

export interface DomainStore {
  /**
   * `added` with the new id, or `exists` with the id of the binding that has the hash, which is
   * told before a reached cap.
   */
  addDomain(
    draft: NewDomain,
    act: Act,
  ): Promise<{ outcome: 'added' | 'exists'; id: number } | 'domain_limit_reached'>;
  /** Makes a binding active and renames it if a name is given. */
  activateDomain(
    providerId: number,
    id: number,
    domainName: string | null,
    act: Act,
  ): Promise<'activated' | 'was_active'>;
  disableDomain(providerId: number, id: number, act: Act): Promise<'ok' | 'domain_not_found'>;
  /** Finds the provider's binding of a hash, active or not. */
  findDomain(providerId: number, domainHash: string): Maybe<Domain | null>;
  listDomains(providerId: number, page: Page): Maybe<Domain[]>;
}

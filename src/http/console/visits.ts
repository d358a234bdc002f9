/** The entries of the audit log about accounts of the appliance that open a provider's pages. */

import type { SignedIn } from '../../core/account/session.ts';
import { actAt } from '../../core/audit/entry.ts';
import type { Core } from '../../core/core.ts';
import type { Provider } from '../../core/port/provider.ts';

/** Visits that are remembered; of older ones there may be a second entry. */
const KNOWN_MAX = 10_000;

export class Visits {
  readonly #known = new Set<string>();

  /**
   * Adds an entry at the first call of a session about a provider at which its account has no role:
   * the provider sees who looked.
   */
  async note(core: Core, signedIn: SignedIn, provider: Provider, nowMs: number): Promise<void> {
    if (signedIn.grants.some(({ providerId }) => providerId === provider.id)) return;
    const visit = `${signedIn.session.id} ${provider.id}`;
    if (this.#known.has(visit)) return;
    this.#known.add(visit);
    for (const oldest of this.#known) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(oldest);
    }
    try {
      await core.store.noteVisit(provider.id, actAt(core, nowMs));
    } catch (fault) {
      this.#known.delete(visit);
      throw fault;
    }
  }
}

/** Entries in the audit log for accounts of the appliance that open a provider's pages. */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import type { Provider } from '../port/provider.ts';
import type { SignedIn } from './session.ts';

/** The most remembered visits; a forgotten one may get a second entry. */
const KNOWN_MAX = 10_000;

export class Visits {
  readonly #known = new Set<string>();

  /**
   * Adds an entry at a session's first call about a provider at which its account has no role. The
   * provider can see the visit.
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

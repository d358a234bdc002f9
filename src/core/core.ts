import type { Store } from './store.ts';

/** What every rule of the product works with. */
export interface Core {
  store: Store;
  /** Cap on limited links for a provider without a cap of its own. */
  linksPerProviderMax: number;
}

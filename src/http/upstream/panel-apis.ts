/** The APIs of panels by their settings. */

import { PanelApi, type PanelApiDeps } from './panel-api.ts';
import type { PanelSource } from './panel-source.ts';

/** The most APIs in memory: more than the settings may name. */
const APIS_MAX = 128;

export class PanelApis {
  readonly #byName = new Map<string, PanelApi>();
  readonly #bySource = new WeakMap<PanelSource, PanelApi>();

  constructor(readonly deps: PanelApiDeps) {}

  /** Returns the API of a source. Changed settings make a new one, without memory. */
  of(source: PanelSource): PanelApi {
    const before = this.#bySource.get(source);
    if (before !== undefined) return before;
    const api = this.#named(source);
    this.#bySource.set(source, api);
    return api;
  }

  #named(source: PanelSource): PanelApi {
    const { host, panel, url, tokenFile, accountFile, headersFile, panelAdmin } = source;
    const parts = [host, panel, url, tokenFile, accountFile, headersFile, panelAdmin];
    const name = parts.join('\n');
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#byName.size >= APIS_MAX) this.#byName.clear();
    const api = new PanelApi(source, this.deps);
    this.#byName.set(name, api);
    return api;
  }
}

/** Makes a memory for each API when it is first needed. */
export function perApi<T>(make: (api: PanelApi) => T): (api: PanelApi) => T {
  const made = new WeakMap<PanelApi, T>();
  return (api) => {
    const known = made.get(api);
    if (known !== undefined) return known;
    const memory = make(api);
    made.set(api, memory);
    return memory;
  };
}

/**
 * Asks panels for the figures of single links, for reminders: where an app has not fetched for two
 * days, only the panel knows whether its user paid. Only a panel that proved the key of a link is
 * asked.
 */

import type { Clock } from '../../base/clock.ts';
import { HOUR_MS } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import { type AskPanel, type PanelApiUser, Silent } from '../../core/panel/api.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import { panelApiUser } from '../../core/panel/user.ts';
import type { FiguresReader } from '../../core/port/figures-reader.ts';
import type { OwnedTie } from '../../core/port/panel-tie.ts';
import type { Figures } from '../../core/port/subscription-figures.ts';
import { keepsFigures } from '../../core/privacy.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { plausible } from '../../core/subscription-figures.ts';
import { type GateSource, gateSource } from './gate-panel.ts';
import { type PanelApi, type PanelApiDeps, remember } from './panel-api.ts';
import { PanelApis, perApi } from './panel-apis.ts';
import { type PanelSource, readsFigures, sourceOf } from './panel-source.ts';
import type { UpstreamSettings } from './settings.ts';

interface Deps extends PanelApiDeps {
  core: Core;
  clock: Clock;
  settings: GateSource & Pick<UpstreamSettings, 'gateUpstreams'>;
}

/** The time of a question, ms: some panels find a user only in the list of all. */
const READ_MAX_MS = 30_000;

/** Makes the reader, with a memory and a pause of its own. */
export function makeFiguresReader(deps: Deps): FiguresReader {
  const { clock, core, settings } = deps;
  const apis = new PanelApis(deps);
  const keysOf = perApi((api) => new PanelKeys(api, clock));

  /** Returns the APIs that may be asked about a link. */
  function sourcesFor(tied: OwnedTie): PanelSource[] {
    const own = settings.gateUpstreams
      .filter((upstream) => upstream.provider === tied.providerCode && readsFigures(upstream))
      .map(sourceOf);
    const ofGate = settings.gateRead === 'panel' ? gateSource(settings) : null;
    return [...own, ofGate].filter(
      (one) => one !== null && isProvedBy(one.panel, tied),
    ) as PanelSource[];
  }

  async function ask(api: PanelApi, tied: OwnedTie, signal: AbortSignal) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(READ_MAX_MS)]);
    try {
      return await api.ask(({ ask }) => keysOf(api).userOf(tied, ask), within);
    } catch (fault) {
      if (fault instanceof Silent) return null;
      throw fault;
    }
  }

  return {
    async read(installId, signal): Promise<Figures | null> {
      const tied = keepsFigures(core) ? await core.store.findTieOf(installId) : null;
      if (tied === null) return null;
      for (const source of sourcesFor(tied)) {
        const api = apis.of(source);
        const user = api.isReady() ? await ask(api, tied, signal) : null;
        if (user !== null) return plausible(user, clock.nowMs());
      }
      return null;
    },
  };
}

/** The keys of a panel's users by their hashes, of which alone links know. */
class PanelKeys {
  readonly #known = new Map<string, string>();
  /** The steady time until which the list of all keys holds, ms. */
  #listedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly api: PanelApi,
    private readonly clock: Clock,
  ) {}

  /** Reads the user of a link; null: the panel has none. Throws {@link Silent}. */
  async userOf(tied: OwnedTie, ask: AskPanel): Promise<PanelApiUser | null> {
    const { panel, panelAdmin } = this.api.source;
    const key = await this.#keyOf(tied, ask);
    return key === null ? null : panelApiUser(panel, key, ask, panelAdmin);
  }

  async #keyOf({ panelUser, subscriptionKeyHash: hash }: OwnedTie, ask: AskPanel) {
    if (hash === null) return null;
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const { panel } = this.api.source;
    const { keysFor, listsKeys } = PANEL_TRAITS[panel].api;
    const nowMs = this.clock.steadyMs();
    if (listsKeys && nowMs < this.#listedUntilMs) return null;
    const id = (panelUser ?? '').slice(panel.length + 1);
    for await (const key of keysFor(id, ask)) remember(this.#known, subscriptionKeyHash(key), key);
    if (listsKeys) this.#listedUntilMs = nowMs + HOUR_MS;
    return this.#known.get(hash) ?? null;
  }
}

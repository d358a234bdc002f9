/** Cut-offs at a panel for one link, as a job has them done. */

import type { CutOutcome } from '../../src/core/panel/cut-off.ts';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import type { TiedLink } from '../../src/core/port/panel-tie.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { PanelCutOffs } from '../../src/http/upstream/panel-cuts.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { FakeClock } from './clock.ts';
import { tokensOf } from './panel-api.ts';
import { upstreamTo } from './upstream.ts';

export const CODE = 'Ab3dE5gH';

/** A link as a panel proved it. */
export interface CutLink {
  key: string;
  /** `panel:user`; null: no panel proved the key. */
  panelUser: string | null;
}

interface CutOptions {
  panel: PanelKind;
  url: string;
  token?: string;
  /** The link of the provider; null: it has none with that key. */
  link: CutLink | null;
  /** Further settings of the upstream. */
  upstream?: Partial<Upstream>;
  /** Upstreams beside it. */
  others?: readonly Upstream[];
  clock?: FakeClock;
}

interface CutAsk {
  seen?: string | null;
  key?: string;
  deadline?: AbortSignal;
}

/** Returns what cuts off at a panel, whose store has one link. */
export function cutsAt(options: CutOptions) {
  const { panel, url, link, token = 'a-token', clock = new FakeClock() } = options;
  const upstream = upstreamTo(url, CODE, {
    panel,
    key: panel === 'marzban' || panel === 'pasarguard' ? panel : 'plain',
    panelTokenFile: 'token',
    cutOff: true,
    ...options.upstream,
  });
  const tied: TiedLink | null = link && {
    id: 1,
    status: 10,
    installLimit: 2,
    deviceCount: 1,
    panelUser: link.panelUser,
    facts: null,
    subscriptionKeyHash: subscriptionKeyHash(link.key),
    ofGate: 1,
  };
  const settings = { gateUpstreams: [upstream, ...(options.others ?? [])] };
  const cuts = new PanelCutOffs({
    clock,
    settings,
    tokens: tokensOf((file) => (file === 'token' ? token : null), { clock }),
    store: {
      findProvider: (code) => (code === CODE ? ({ id: 7 } as Provider) : null),
      findTiedLink: (providerId, hash) =>
        providerId === 7 && hash === tied?.subscriptionKeyHash ? tied : null,
    },
  });
  return {
    cuts,
    settings,
    upstream,
    cut: ({ seen = null, key = link?.key ?? '', deadline }: CutAsk = {}): Promise<CutOutcome> =>
      cuts.changeCredentials(
        upstream,
        { subscriptionKeyHash: subscriptionKeyHash(key), seen },
        deadline ?? AbortSignal.timeout(30_000),
      ),
  };
}

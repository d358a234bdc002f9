/**
 * Copies the limits of users from panels to links. Asks the API of a panel at most once an hour for
 * each key that the panel proved, and updates the link. Keeps the last limit while the panel is
 * away.
 */

import type { Clock } from '../../base/clock.ts';
import { actingAs, type Core } from '../../core/core.ts';
import { updateLink } from '../../core/link.ts';
import { isRefused } from '../../core/outcome.ts';
import { PANEL } from '../../core/panel/actor.ts';
import { type PanelLimit, zeroIsUnlimited } from '../../core/panel/limit-rule.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import { linkLimitOf, panelApiUser, panelLimitOf } from '../../core/panel/user.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { Answers, remember } from './panel-api.ts';
import { type PanelApis, perApi } from './panel-apis.ts';
import type { PanelFigures } from './panel-figures.ts';
import { type PanelSource, sourceOf } from './panel-source.ts';
import type { PanelUsers } from './panel-users.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  apis: PanelApis;
  panelUsers: PanelUsers;
  figures: PanelFigures;
}

/** The time for which a limit holds, ms. */
const HOLDS_MS = 3_600_000;

/** The panel sets no limit, or does not know the user. */
const NONE = 'none';

export class PanelLimits {
  readonly #memory = perApi((api) => ({
    limits: new Answers<NonNullable<PanelLimit> | typeof NONE>(
      ...([api, this.deps.clock, HOLDS_MS] as const),
      async ({ ask, settings }, key) => {
        const { panel, panelAdmin } = api.source;
        const user = await panelApiUser(panel, key, ask, panelAdmin);
        this.deps.panelUsers.learn(api, key, user);
        this.deps.figures.learn(api, key, user);
        return (await panelLimitOf(panel, user, settings)) ?? NONE;
      },
    ),
    /** Keys that the panel has not proved since. */
    unproved: new Map<string, true>(),
  }));

  constructor(private readonly deps: Deps) {}

  /** Returns whether the panel must be asked for a key now. */
  isDue(upstream: Upstream, key: string): boolean {
    const memory = this.#memoryOf(upstream);
    return memory !== null && !memory.unproved.has(key) && memory.limits.isDue(key);
  }

  /**
   * Returns the limit for the link of a key that the panel proved, `unlimitedAs` if its user has
   * none; null: the panel sets none, or is away.
   */
  async of(upstream: Upstream, key: string): Promise<number | null> {
    const known = await this.#followed(upstream, subscriptionKeyHash(key));
    const { unlimitedAs } = upstream;
    if (known !== null) return linkLimitOf(zeroIsUnlimited(known.panelLimit), unlimitedAs);
    const limit = (await this.#memoryOf(upstream)?.limits.of(key)) ?? NONE;
    return linkLimitOf(limit === NONE ? null : limit, unlimitedAs);
  }

  /**
   * Sets the limit of a link to that of its panel. Returns whether it changed. A limit below the
   * number of taken slots holds as devices leave: those stay, new ones are refused.
   */
  async follow(upstream: Upstream, key: string): Promise<boolean> {
    const source = sourceOf(upstream);
    const memory = this.#memoryOf(upstream);
    if (memory === null || source === null) return false;
    const core = actingAs(this.deps.core, () => PANEL);
    const provider = await core.store.findProvider(upstream.provider);
    if (provider === null) return false;
    const keyHash = subscriptionKeyHash(key);
    const tied = await core.store.findTiedLink(provider.id, keyHash);
    if (tied === null) return false;
    if (!isProvedBy(source.panel, tied)) {
      remember(memory.unproved, key, true);
      this.deps.panelUsers.forget(upstream, key);
      return false;
    }
    // `follow` brings limits, and keeps those that were set by hand apart by these facts.
    const isFollowed = upstream.followMs > 0 && tied.facts !== null;
    if (isFollowed || (await this.#followed(upstream, keyHash)) !== null) {
      memory.limits.learn(key, NONE);
      return false;
    }
    const limit = await this.of(upstream, key);
    const link = limit === null ? null : await core.store.findTiedLink(provider.id, keyHash);
    if (limit === null || link === null) return false;
    if (limit === link.installLimit) return false;
    const change = { installLimit: limit, asTheyLeave: true };
    const nowMs = this.deps.clock.nowMs();
    return !isRefused(await updateLink(core, provider, link.id, change, nowMs));
  }

  /** Notes that the panel proved the key of a link. */
  proved(upstream: Upstream, key: string): void {
    this.#memoryOf(upstream)?.unproved.delete(key);
  }

  /** Returns the user of a key, as the last whole pass of `follow` saw it; null: it saw none. */
  async #followed({ followMs, host, limits }: Upstream, keyHash: string) {
    if (followMs === 0 || limits !== 'panel') return null;
    const found = await this.deps.core.store.findFollowed(host, keyHash);
    return found?.missedCount === 0 ? found : null;
  }

  #memoryOf(upstream: Upstream) {
    if (upstream.limits !== 'panel') return null;
    const source: PanelSource | null = sourceOf(upstream);
    return source === null ? null : this.#memory(this.deps.apis.of(source));
  }
}

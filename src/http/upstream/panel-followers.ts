/** Follows the APIs of panels at the door: limits, and the users of links. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { RefusedAtDoor } from '../../core/door-refusals.ts';
import { KeyProofs } from './key-proofs.ts';
import type { PanelApiDeps } from './panel-api.ts';
import { PanelApis } from './panel-apis.ts';
import { PanelEntry } from './panel-entry.ts';
import { PanelLimits } from './panel-limits.ts';
import { sourceOf } from './panel-source.ts';
import { PanelUsers } from './panel-users.ts';
import type { Upstream } from './settings.ts';

export interface PanelFollowers {
  limits: PanelLimits;
  users: PanelUsers;
  entry: PanelEntry;
  proofs: KeyProofs;
  /** Notes that a 200 of the panel proved the key of a link. */
  proved(upstream: Upstream, providerId: number, key: string): void;
}

export function makeFollowers(deps: PanelApiDeps & { core: Core; clock: Clock; log: Log }) {
  const apis = new PanelApis(deps);
  const users = new PanelUsers({ ...deps, apis });
  const limits = new PanelLimits({ ...deps, apis, panelUsers: users });
  return {
    limits,
    users,
    entry: new PanelEntry({ ...deps, apis }),
    proofs: new KeyProofs(deps),
    proved: (upstream: Upstream, providerId: number, key: string) =>
      users.noteLater(upstream, providerId, key, () => limits.proved(upstream, key)),
  } satisfies PanelFollowers;
}

/**
 * Copies to an existing link what its panel says: the limit, or that the user of a link that an
 * import disabled is active. Returns whether the link changed. A device that holds a slot of an
 * active link does not wait for this.
 */
export async function changesLink(
  { limits, users }: PanelFollowers,
  core: Core,
  upstream: Upstream,
  key: string,
  { holdsSlot, refusal }: { holdsSlot: boolean; refusal: RefusedAtDoor['says'] | null },
): Promise<boolean> {
  if (refusal === 'link_disabled') {
    const source = sourceOf(upstream);
    const provider = source && (await core.store.findProvider(upstream.provider));
    return source !== null && provider !== null && users.comesBack(source, provider.id, key);
  }
  if (refusal !== null && refusal !== 'link_limit_reached') return false;
  if (!limits.isDue(upstream, key)) return false;
  if (!holdsSlot) return limits.follow(upstream, key);
  limits.followLater(upstream, key);
  return false;
}

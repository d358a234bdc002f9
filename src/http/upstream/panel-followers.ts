/** Follows the APIs of panels at the door: limits, figures, and the users of links. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { RefusedAtDoor } from '../../core/door-refusals.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import { reportFault } from '../interpreter.ts';
import { FiguresNotes } from './figures.ts';
import { KeyProofs } from './key-proofs.ts';
import type { PanelApiDeps } from './panel-api.ts';
import { PanelApis } from './panel-apis.ts';
import { PanelEntry } from './panel-entry.ts';
import { PanelFigures } from './panel-figures.ts';
import { PanelLimits } from './panel-limits.ts';
import { type PanelSource, readsFigures } from './panel-source.ts';
import { PanelUsers } from './panel-users.ts';
import type { Upstream } from './settings.ts';

export interface PanelFollowers {
  limits: PanelLimits;
  users: PanelUsers;
  entry: PanelEntry;
  proofs: KeyProofs;
  figures: PanelFigures;
  notes: FiguresNotes;
  /** Does work that no request waits for. */
  later(work: () => Promise<unknown>): void;
  /** Notes that a 200 of the panel proved the key of a link. */
  proved(upstream: Upstream, providerId: number, key: string): void;
}

export function makeFollowers(deps: PanelApiDeps & { core: Core; clock: Clock; log: Log }) {
  const apis = new PanelApis(deps);
  const users = new PanelUsers({ ...deps, apis });
  const notes = new FiguresNotes(deps);
  const figures = new PanelFigures({ ...deps, apis, notes });
  const limits = new PanelLimits({ ...deps, apis, panelUsers: users, figures });
  return {
    limits,
    users,
    entry: new PanelEntry({ ...deps, apis }),
    proofs: new KeyProofs(deps),
    figures,
    notes,
    later: (work) => {
      work().catch((fault: unknown) => {
        reportFault(deps.log, 'upstream', fault, crypto.randomUUID());
      });
    },
    proved: (upstream: Upstream, providerId: number, key: string) =>
      users.noteLater(upstream, providerId, key, () => limits.proved(upstream, key)),
  } satisfies PanelFollowers;
}

/** A request for a link as it was judged. */
interface Judged {
  /** The link on which the device has its slot; null: it has none. */
  held: AdmittedLink | null;
  refusal: RefusedAtDoor['says'] | null;
}

/**
 * Copies to an existing link what its panel says: the limit, the figures, or that the user of a
 * link that an import disabled is active. Returns whether the link changed. A device that holds a
 * slot of an active link does not wait for this.
 */
export async function changesLink(
  { figures, later, limits, users }: PanelFollowers,
  core: Core,
  upstream: Upstream,
  source: PanelSource,
  key: string,
  { held, refusal }: Judged,
): Promise<boolean> {
  if (refusal === 'link_disabled') {
    const provider = await core.store.findProvider(upstream.provider);
    return provider !== null && users.comesBack(source, provider.id, key);
  }
  if (refusal !== null && refusal !== 'link_limit_reached') return false;
  const isLimitDue = limits.isDue(upstream, key);
  if (held === null) return isLimitDue && limits.follow(upstream, key);
  const isRead = readsFigures(upstream) && figures.isDue(held);
  if (!isLimitDue && !isRead) return false;
  later(async () => {
    // Its answer has the figures too.
    if (isLimitDue) await limits.follow(upstream, key);
    if (isRead) await figures.read(source, { link: held, key });
  });
  return false;
}

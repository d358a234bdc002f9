/**
 * Proofs of links. A provider may type any key; a panel is asked about a link only if the panel
 * itself proved the link's key: by an import, or by an answer with the subscription of that key.
 */

import { INSTALL_DISABLED } from '../port/link.ts';
import type { PanelFacts } from '../port/moving.ts';
import type { TiedLink } from '../port/panel-tie.ts';

type Tie = Pick<TiedLink, 'panelUser' | 'facts' | 'subscriptionKeyHash'>;

/**
 * Returns true if a panel proved that the link has its present key. The store removes the user of a
 * link without facts when its key changes.
 */
export function isProvedBy(panel: string, { panelUser, facts, subscriptionKeyHash }: Tie): boolean {
  if (!panelUser?.startsWith(`${panel}:`)) return false;
  return facts === null || facts.subscriptionKeyHash === subscriptionKeyHash;
}

/** Returns true if an import disabled the link, and no other change of its state followed. */
export const isDisabledByImport = (status: number, facts: PanelFacts | null): boolean =>
  status === INSTALL_DISABLED && facts?.status === INSTALL_DISABLED;

/**
 * Returns the tie of a link after the panel proved its key for `panelUser`; null: nothing changes.
 * Facts of another user, or of another panel, are no longer those of the link.
 */
export function provedTie(before: Tie, panelUser: string): Pick<Tie, 'panelUser' | 'facts'> | null {
  const { facts, subscriptionKeyHash } = before;
  const panel = panelUser.slice(0, panelUser.indexOf(':'));
  if (facts !== null && isProvedBy(panel, before)) return null;
  if (before.panelUser !== panelUser) return { panelUser, facts: null };
  return facts === null ? null : { panelUser, facts: { ...facts, subscriptionKeyHash } };
}

/** Reads users and their limits from the APIs of panels. */

import { INSTALL_LIMIT } from '../formats.ts';
import { subscriptionKeyHash } from '../secret.ts';
import {
  type AskPanel,
  type AskSettings,
  type PanelApi,
  type PanelApiUser,
  Silent,
} from './api.ts';
import { PANEL_TRAITS } from './index.ts';
import type { PanelKind } from './kind.ts';
import type { PanelLimit } from './limit-rule.ts';

/**
 * Returns the user of a key; null: the panel has none, or one that does not belong to `panelAdmin`
 * (empty: all do). Throws {@link Silent}.
 */
export async function panelApiUser(
  panel: PanelKind,
  key: string,
  ask: AskPanel,
  panelAdmin = '',
): Promise<PanelApiUser | null> {
  const { api } = PANEL_TRAITS[panel];
  const path = api.userPath(key);
  if (path === null) throw new Silent('API_KEY');
  const user = api.userIn(await ask(path).catch((fault) => asOfUser(fault, api)), key);
  return panelAdmin === '' || user?.belongsTo(panelAdmin) ? user : null;
}

/** Throws the fault of a question about a user: a token of one admin stops no other question. */
function asOfUser(fault: unknown, { ofOtherAdmin }: PanelApi): never {
  if (!(fault instanceof Silent) || fault.code !== 'API_403') throw fault;
  throw ofOtherAdmin?.test(fault.said) ? new Silent(fault.code) : fault;
}

/** Returns the limit of a user. One above the largest of links becomes the largest. */
export async function panelLimitOf(
  panel: PanelKind,
  user: PanelApiUser | null,
  settings: AskSettings,
): Promise<PanelLimit> {
  const said = user === null ? null : await PANEL_TRAITS[panel].api.limitOf(user.record, settings);
  return typeof said === 'number' ? Math.min(said, INSTALL_LIMIT.maximum) : said;
}

/** Returns the limit of a link whose panel says a limit; null: the panel sets none. */
export const linkLimitOf = (said: PanelLimit, unlimitedAs: number): number | null =>
  said === 'unlimited' ? unlimitedAs : said && Math.min(said, INSTALL_LIMIT.maximum);

/** Returns the name by which a link remembers its user: see `panelUserOf` of core/moving. */
export const panelUserName = (panel: PanelKind, id: string | null, key: string): string =>
  `${panel}:${id ?? subscriptionKeyHash(key)}`;

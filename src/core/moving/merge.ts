/** Merges imported records with existing ones. */

import { INSTALL_ACTIVE, type Link } from '../port/link.ts';
import type { ImportedAs, PanelFacts } from '../port/moving.ts';

/** A record after the import and its outcome: see {@link ImportedAs}. */
export interface Merged<Row> {
  was: Exclude<ImportedAs, 'added'>;
  after: Row;
}

/** Merges an existing record with imported fields, which change it only with `updates`. */
export function merge<Row extends object>(
  known: Row,
  wanted: Partial<Row>,
  updates: boolean,
): Merged<Row> {
  const names = Object.keys(wanted) as (keyof Row)[];
  if (names.every((name) => known[name] === wanted[name])) return { was: 'present', after: known };
  if (!updates) return { was: 'different', after: known };
  return { was: 'updated', after: { ...known, ...wanted } };
}

/** Merges a link as `merge` does; its limit stays at or above its taken slots. */
export function mergeLink<Row extends Pick<Link, 'installLimit' | 'deviceCount'>>(
  known: Row,
  wanted: Partial<Row>,
  updates: boolean,
): Merged<Row> {
  const { was, after } = merge(known, wanted, updates);
  const isSame = after.installLimit === known.installLimit;
  const installLimit = isSame
    ? known.installLimit
    : Math.max(after.installLimit, known.deviceCount);
  return { was, after: { ...after, installLimit } };
}

export type PanelTerms = Pick<
  PanelFacts,
  'installLimit' | 'status' | 'note' | 'subscriptionKeyHash'
>;

/**
 * Returns the terms of a panel for an existing link: the limit is at least the number of taken
 * slots.
 */
export function panelTerms(
  { deviceCount, installLimit }: Pick<Link, 'deviceCount' | 'installLimit'>,
  { installLimit: wanted, status, note, subscriptionKeyHash }: PanelTerms,
): PanelTerms {
  const least = Math.min(deviceCount, installLimit);
  return { installLimit: Math.max(wanted, least), status, note, subscriptionKeyHash };
}

/**
 * Returns the state to note as that of the last import for a link that keeps its own. It stays
 * disabled by an import only while it is disabled.
 */
export function keptStatus(known: Pick<Link, 'status'>, before: PanelFacts | null): number {
  return known.status === before?.status ? known.status : INSTALL_ACTIVE;
}

/**
 * Merges a link with the panel's current terms. A field that still has the value of the last import
 * takes the new value. Another value is an edit of the provider and stays, unless `updates`.
 */
export function mergePanel<Row extends PanelTerms & Pick<Link, 'deviceCount'>>(
  known: Row,
  before: PanelFacts | null,
  panel: PanelTerms,
  updates: boolean,
): Merged<Row> {
  const said = panelTerms(known, panel);
  const names = Object.keys(said) as (keyof PanelTerms)[];
  const others = names.filter((name) => known[name] !== said[name]);
  const taken = others.filter((name) => updates || before?.[name] === known[name]);
  const after = { ...known, ...Object.fromEntries(taken.map((name) => [name, said[name]])) };
  if (taken.length > 0) return { was: 'updated', after };
  return { was: others.length > 0 ? 'different' : 'present', after };
}

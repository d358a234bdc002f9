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

export type PanelTerms = Pick<
  PanelFacts,
  'installLimit' | 'status' | 'note' | 'subscriptionKeyHash'
>;

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
export function mergePanel<Row extends PanelTerms>(
  known: Row,
  before: PanelFacts | null,
  { installLimit, status, note, subscriptionKeyHash }: PanelTerms,
  updates: boolean,
): Merged<Row> {
  const said: PanelTerms = { installLimit, status, note, subscriptionKeyHash };
  const names = Object.keys(said) as (keyof PanelTerms)[];
  const others = names.filter((name) => known[name] !== said[name]);
  const taken = others.filter((name) => updates || before?.[name] === known[name]);
  const after = { ...known, ...Object.fromEntries(taken.map((name) => [name, said[name]])) };
  if (taken.length > 0) return { was: 'updated', after };
  return { was: others.length > 0 ? 'different' : 'present', after };
}

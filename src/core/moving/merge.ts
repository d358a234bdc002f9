/** Merges imported records with existing ones. */

import type { Install } from '../port/install.ts';
import type { ImportedAs } from '../port/moving.ts';

/** A record after the import and its outcome: see {@link ImportedAs}. */
interface Merged<Row> {
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
export function mergeInstall<Row extends Pick<Install, 'installLimit' | 'deviceCount'>>(
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

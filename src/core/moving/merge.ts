/** Records that move in beside those that are here already. */

import type { Install } from '../port/install.ts';
import type { ImportedAs } from '../port/moving.ts';

/** A record as it is here after the import, and what became of it: see {@link ImportedAs}. */
interface Merged<Row> {
  was: Exclude<ImportedAs, 'added'>;
  after: Row;
}

/** Merges a record that is here with one that is wanted, which counts only with `updates`. */
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

/** The same for a link; its limit is never below its HWIDs. */
export function mergeInstall<Row extends Pick<Install, 'installLimit' | 'deviceCount'>>(
  known: Row,
  wanted: Partial<Row>,
  updates: boolean,
): Merged<Row> {
  const { was, after } = merge(known, wanted, updates);
  const installLimit = Math.max(after.installLimit, after.deviceCount);
  return { was, after: { ...after, installLimit } };
}

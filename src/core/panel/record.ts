/** Reads fields of the JSON of a panel's API. */

export type PanelRecord = Readonly<Record<string, unknown>>;

export const recordIn = (value: unknown): PanelRecord =>
  typeof value === 'object' && value !== null ? (value as PanelRecord) : {};

export const isEmpty = (record: PanelRecord): boolean => Object.keys(record).length === 0;

/** Returns the named fields alone: an answer of a panel may have secrets in its other fields. */
export const only = (record: PanelRecord, ...names: readonly string[]): PanelRecord =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

/** Returns a whole number from 0; null: none. */
export const countIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Returns a number of bytes; null: none, or one that JavaScript does not count exactly. */
export function bytesIn(value: unknown): number | null {
  if (typeof value !== 'number' || value < 0) return null;
  return countIn(Math.floor(value));
}

/** Returns a total of bytes, of which 0 means that there is none. */
export const zeroIsNone = (value: unknown): number | null => bytesIn(value) || null;

/** Returns a limit, 0 for one below: both mean none. Null: the user has none of its own. */
export const limitIn = (value: unknown): number | null =>
  typeof value === 'number' && value < 0 ? 0 : countIn(value);

/** Returns a number or a text as text; empty: none. */
export const idIn = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Returns a time, ms; a text without a zone is in UTC. Null: none. */
export function timeIn(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? value : null;
  if (typeof value !== 'string') return null;
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value);
  const atMs = Date.parse(hasZone ? value : `${value}Z`);
  return Number.isNaN(atMs) ? null : atMs;
}

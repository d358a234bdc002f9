/** Long lists as text: read and written in pages, so that nobody waits for all of one. */

import type { Maybe } from '../../core/port/maybe.ts';

/** A record of a list in an answer. */
export interface Row {
  readonly id: number;
}

/** A list that is read in pages, from the highest id on. */
export interface RowList {
  /** The id below which the rows lie; null for all. */
  beforeId: number | null;
  countMax: number;
  /** True if it is one row at most. */
  isOne: boolean;
  read(beforeId: number | null, countMax: number): Maybe<readonly Row[]>;
}

const utf8 = new TextEncoder();

/** The rows of a page: well under a millisecond to read and to write. */
export const PAGE_COUNT = 250;

/** The longest list, bytes: 5000 rows with the longest texts that they may have. */
export const LIST_BYTES_MAX = 8 * 1024 * 1024;

/** The rest of a list that begins with `first`, in UTF-8, a page at a time. */
export async function restOfList(
  { countMax, read }: RowList,
  first: readonly Row[],
  turn: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pages: Uint8Array<ArrayBuffer>[] = [];
  let rows = first;
  for (let count = first.length; rows.length === PAGE_COUNT && count < countMax; ) {
    await turn();
    const last = rows[rows.length - 1] as Row;
    rows = await read(last.id, Math.min(PAGE_COUNT, countMax - count));
    if (rows.length > 0) pages.push(utf8.encode(`,${JSON.stringify(rows).slice(1, -1)}`));
    count += rows.length;
  }
  return pages;
}

/** Long lists as text: read and serialised in pages, so that other calls run between pages. */

import type { Maybe } from '../../core/port/maybe.ts';

/** A record of a list in an answer. */
export type Row = object;

/** A list that is read and serialised in pages. */
export interface RowList {
  countMax: number;
  /** Rows of a page: a page takes well under a millisecond. */
  pageCount: number;
  /** The most bytes of the whole list. */
  bytesMax: number;
  /** True if the list has one row at most. */
  isOne: boolean;
  /** Reads at most `countMax` rows after `last`; null: from the first on. */
  read(last: Row | null, countMax: number): Maybe<readonly Row[]>;
}

/** The bounds of a list by descending id. */
interface Bounds {
  /** Ids of records are below it; null: from the highest on. */
  beforeId: number | null;
  countMax: number;
  pageCount?: number | undefined;
  isOne: boolean;
}

/** Makes a list of records by descending id. */
export function listById<R extends { readonly id: number }>(
  { beforeId, countMax, pageCount = PAGE_COUNT, isOne }: Bounds,
  read: (beforeId: number | null, countMax: number) => Maybe<readonly R[]>,
): RowList {
  return {
    countMax,
    isOne,
    pageCount,
    bytesMax: LIST_BYTES_MAX,
    read: (last, count) => read(last === null ? beforeId : (last as R).id, count),
  };
}

const utf8 = new TextEncoder();

/** The rows of a page of records. */
export const PAGE_COUNT = 250;

/** The longest list, bytes: 5000 rows with the longest texts. */
export const LIST_BYTES_MAX = 8 * 1024 * 1024;

/** Serialises the rest of a list that begins with `first`, a page in each turn, in UTF-8. */
export async function restOfList(
  { countMax, pageCount, read }: RowList,
  first: readonly Row[],
  turn: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pages: Uint8Array<ArrayBuffer>[] = [];
  let rows = first;
  for (let count = first.length; rows.length === pageCount && count < countMax; ) {
    await turn();
    rows = await read(rows.at(-1) ?? null, Math.min(pageCount, countMax - count));
    if (rows.length > 0) pages.push(utf8.encode(`,${JSON.stringify(rows).slice(1, -1)}`));
    count += rows.length;
  }
  return pages;
}

/** Long lists as text: read and written in pages, so that nobody waits for all of one. */

import type { Maybe } from '../../core/port/maybe.ts';

/** A record of a list in an answer. */
export type Row = object;

/** A list that is read and written in pages. */
export interface RowList {
  countMax: number;
  /** The most rows of a page: all together are well under a millisecond to read and to write. */
  pageCount: number;
  /** The most bytes of the whole list. */
  bytesMax: number;
  /** True if it is one row at most. */
  isOne: boolean;
  /** Reads at most so many of the rows behind `last`; behind null: the first ones. */
  read(last: Row | null, countMax: number): Maybe<readonly Row[]>;
}

/** A list of records with ids, from the highest on; `beforeId` null: from the very highest. */
export function listById<R extends { readonly id: number }>(
  { beforeId, countMax, isOne }: { beforeId: number | null; countMax: number; isOne: boolean },
  read: (beforeId: number | null, countMax: number) => Maybe<readonly R[]>,
): RowList {
  return {
    ...{ countMax, isOne, pageCount: PAGE_COUNT, bytesMax: LIST_BYTES_MAX },
    read: (last, count) => read(last === null ? beforeId : (last as R).id, count),
  };
}

const utf8 = new TextEncoder();

/** The rows of a page of records. */
export const PAGE_COUNT = 250;

/** The longest list, bytes: 5000 rows with the longest texts that they may have. */
const LIST_BYTES_MAX = 8 * 1024 * 1024;

/** The rest of a list that begins with `first`, in UTF-8, a page at a time. */
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

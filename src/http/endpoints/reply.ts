/** Replies that several handlers give: with the fields of a record, or with a list. */

import { isRefused, Refused } from '../../core/outcome.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Page } from '../../core/port/page.ts';
import { listById } from '../answer/list-text.ts';
import type { Reply } from '../endpoint.ts';

/** The most records that a list returns (specification, "Limits"). */
export const LIST_COUNT_MAX = 5000;

/** Refuses parameters that do not fit together. */
export const invalid = (detail: string) => new Refused('invalid_parameters', { detail });

/** Replies `ok` with fields of the core's result, or with its refusal. */
export function replyWith<T extends object, K extends string>(
  outcome: Maybe<T | Refused<K>>,
  fieldsOf: (given: T) => Readonly<Record<string, unknown>>,
): Maybe<{ says: 'ok'; body: Readonly<Record<string, unknown>> } | Refused<K>> {
  return after(outcome, (given) =>
    isRefused<object>(given) ? (given as Refused<K>) : { says: 'ok', body: fieldsOf(given as T) },
  );
}

/** Replies with the list that the parameters select; `rowOf` maps each record. */
export function replyWithList<T, R extends { readonly id: number }>(
  { id, before_id }: { id: number | null; before_id: number | null },
  readPage: (page: Page) => Maybe<readonly T[]>,
  rowOf: (record: T) => R,
  bounds: { countMax: number; pageCount?: number } = { countMax: LIST_COUNT_MAX },
): Reply<'ok'> {
  const read = (beforeId: number | null, countMax: number) =>
    after(readPage({ id, beforeId, countMax }), (records) => records.map(rowOf));
  const { countMax, pageCount } = bounds;
  const of = { beforeId: before_id, countMax, pageCount, isOne: id !== null };
  return { says: 'ok', list: listById(of, read) };
}

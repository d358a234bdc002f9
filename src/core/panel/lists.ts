/** How the lists of a panel's API are read, as the rows of its database. */

import type { PanelRecord } from './record.ts';

/** Users or devices of one call: no panel returns more than 1,000. */
export const PAGE = 500;

/** A list of users or devices that the panel gives page by page. */
export interface PagedList {
  table: string;
  /** The field of an answer that has the records of its page. */
  field: string;
  /** Returns the text by which a record is known again. */
  nameOf(record: PanelRecord): string;
  page(at: number): Promise<PanelRecord>;
  /** Receives the name of each record once. */
  onNew?(name: string): void;
}

/** Reads an API, and keeps rows of what it says. Throws for an answer of no such panel. */
export interface ListReader {
  /** Returns the JSON of an answer with one of the statuses; by default 200. */
  get(path: string, statuses?: readonly number[]): Promise<unknown>;
  /** Returns whether a table is to be read. */
  wants(table: string): boolean;
  /** Notes that a table was read, although it may be empty. */
  table(name: string): void;
  /** Adds a record under the column names of the database; unwanted fields are dropped. */
  add(table: string, record: PanelRecord): void;
  /** Adds all records of a paged list. */
  pages(list: PagedList): Promise<void>;
  onProgress(done: number, total: number): void;
  /** Returns the fault of an answer that is not that of the panel. */
  unusable(path: string): Error;
}

export const listIn = (value: unknown): PanelRecord[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one))
    : [];

/**
 * The page of users of FastAPI's panels. Without an order a database gives a row that changed a new
 * place, so another one is on no page. New users come last.
 */
export const usersAt = (at: number) =>
  `/api/users?offset=${at}&limit=${PAGE}&sort=created_at,username`;

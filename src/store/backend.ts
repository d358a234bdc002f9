/**
 * A database as the nouns of the store see it. Each noun is written once, in `noun/`, on this
 * interface; `sqlite/backend.ts` and `postgres/backend.ts` fulfil it.
 *
 * @example
 * disableDomain: (providerId, id, act) =>
 *   backend.write(function* (notes) {
 *     yield* backend.lockProvider(providerId);
 *     const known = yield* on.find.get({ providerId, id });
 *     if (known === null) return 'domain_not_found';
 *     yield* on.change.run({ ...known, status: DOMAIN_DISABLED });
 *     notes.audit(act, deeds.updateDomain(known, …), providerId);
 *     return 'ok';
 *   }),
 */

import type { SQL } from 'drizzle-orm';
import type { Deed } from '../core/audit/entry.ts';
import type { Quota } from '../core/event/quota.ts';
import type { Act } from '../core/port/audit.ts';
import type { EventKind, Happening } from '../core/port/event.ts';
import type { Figure } from '../core/port/figure.ts';
import type { Maybe } from '../core/port/maybe.ts';

/** A part of a read or write, run by `yield*`: it yields what it waits for, on SQLite nothing. */
export type Step<T> = Iterable<unknown, T, unknown>;

/** A value of a statement. A list is for {@link Dialect.among} and other fragments of lists. */
export type Value = string | number | null | Uint8Array | readonly (string | number)[];
export type Values = Readonly<Record<string, Value>>;

/** A statement, prepared once. Each `:name` in it is a value that is filled in at each run. */
export interface Prepared<Row> {
  all(values?: Values): Step<Row[]>;
  get(values?: Values): Step<Row | null>;
  /** Returns the number of rows changed; on SQLite those of triggers are included. */
  run(values?: Values): Step<number>;
  /** Adds one row and returns its id. The text ends with {@link Dialect.returningId}. */
  insert(values?: Values): Step<number>;
}

/** Makes what an event tells of; it may read first. */
export type MakeHappening = () => Happening | Step<Happening>;

/** The use of a quota. */
export interface QuotaShare {
  used: number;
  limit: number;
}

/** Takes down what a write did besides its rows. It is saved, or forgotten, with the write. */
export interface Notes {
  /** Adds an entry to the audit log, on something of this provider's; nothing for null. */
  audit(act: Act, deed: Deed | null, providerId?: number): void;
  /** Adds an event, made at the write's end, if its owner (null: operator) has a webhook for it. */
  event(providerId: number | null, atMs: number, happening: MakeHappening): void;
  /** Returns true if an enabled webhook of the owner wants events of the kind. */
  isWanted(providerId: number | null, kind: EventKind): Step<boolean>;
  /** Adds an event if the use reaches a level for the first time, under the provider's lock. */
  quota(providerId: number, quota: Quota, share: QuotaShare, atMs: number): void;
  /** Disables a webhook that is enabled, with an event for the other webhooks of its owner. */
  disableWebhook(id: number, why: string, atMs: number): Step<void>;
  /** Drops what is known of webhooks. A write that changes webhooks calls it. */
  forgetWebhooks(): void;
  /** Counts what the write did. */
  figure(providerId: number, figure: Figure, atMs: number, by?: number): void;
  /** Wakes the outbox worker after the commit: something was put into the outbox. */
  outbox(): void;
  /** Reports after the commit the status with which a distribution ended. */
  ended(status: number): void;
  /** Signals after the commit to other nodes that these devices have messages, or another token. */
  changed(deviceIds: readonly number[]): void;
  /** Rolls the write back, which returns `value` all the same. */
  refuse(value: unknown): never;
}

/** Fragments of SQL in which the databases differ. */
export interface Dialect {
  /** Behind a SELECT in a write: its rows stay as they are until the write ends. */
  readonly locked: SQL;
  /** The same, without the rows that another write has locked. */
  readonly lockedUnlessBusy: SQL;
  /** The same, so that the rows may be deleted. */
  readonly deletableUnlessBusy: SQL;
  /** The same for rows of `alias` that others refer to: they are not deleted meanwhile. */
  keyLocked(alias: string): SQL;
  /** `JOIN` in the order in which the tables stand (SQLite's planner would choose another). */
  readonly join: SQL;
  /** The column by which rows of a table without an id of its own are in order of arrival. */
  readonly arrival: SQL;
  /** Behind a subquery that is to run by itself: PostgreSQL's planner merges it with none. */
  readonly fence: SQL;
  /** Behind an INSERT for {@link Prepared.insert}. */
  readonly returningId: SQL;
  /** A value that a planner must not look at: see `once` of sqlite/statement.ts. */
  once(name: string): SQL;
  /** `IN` a list of numbers or (`text`) strings that is one value. */
  among(name: string, type?: 'bigint' | 'text'): SQL;
  /** Rows from the JSON of a list of objects, for FROM with an alias; `n` numbers them from 0. */
  rows(name: string, columns: Readonly<Record<string, 'bigint' | 'text'>>): SQL;
  /** The id of a new row: this value, or the next one if it is null. */
  idOrNext(name: string, table: string): SQL;
  /** The larger, or smaller, of two values of which none is null. */
  greatest(a: SQL, b: SQL): SQL;
  least(a: SQL, b: SQL): SQL;
  /** Number of strangers (devices without holders) beyond a value; PostgreSQL stops counting. */
  strangersBeyond(name: string): SQL;
  /** The bytes of a value in hex; null for null. */
  bytes(name: string): SQL;
  /** A column of bytes as lower-case hex; null for null. */
  hex(column: string): SQL;
}

type LockedTable = 'provider' | 'install' | 'device' | 'device_token' | MessageTable;
type MessageTable = 'distribution' | 'recipient' | 'destination';

/** What steps are made of. */
export interface Statements extends Dialect {
  /** Most rows of a step of a long write, and time after which it takes no more work, ms. */
  readonly stepCountMax: number;
  readonly stepMs: number;
  prepare<Row>(query: SQL): Prepared<Row>;
  /** Prepares a statement that only locks: SQLite has no need of it and runs nothing. */
  lockOnly(query: SQL): Prepared<unknown>;
  /** Locks the provider's row, the first in the order of locks; nothing on SQLite. */
  lockProvider(providerId: number): Step<void>;
  /** Locks rows by id: devices in the order of their HWIDs, others in that of their ids. */
  lockRows(rows: Partial<Record<LockedTable, readonly number[]>>): Step<void>;
  /** Reads, locks what the result depends on, and repeats both until all was locked before. */
  readLocked<T>(read: () => Step<T>, locks: () => (result: T) => Step<boolean>): Step<T>;
  /** Lets no other write seal or prune the audit log, nor change webhooks of the operator. */
  lockAuditLog(): Step<void>;
  /** Makes the ids of new rows be above this one; no other write adds rows until this one ends. */
  raiseIds(table: 'install' | 'domain', id: number): Step<void>;
  /** Runs steps that do not depend on each other; PostgreSQL runs them without waiting between. */
  together<T extends readonly unknown[]>(
    steps: {
      readonly [Key in keyof T]: () => Step<T[Key]>;
    },
  ): Step<T>;
}

/** The steps of {@link Backend.writeInTurn}. */
export interface WriteInTurn<Call, Result> {
  /** Reads first, and returns the results of calls that need no write; undefined for the others. */
  answer?(calls: readonly Call[]): Step<(Result | undefined)[]>;
  begin(calls: readonly Call[]): Step<void>;
  /** Returns how much a call has to do, where it may be more than 1. */
  sizeOf?(call: Call): number;
  /** Calls of one key run one after the other. */
  keyOf(call: Call): string;
  /** Runs calls of different keys; returns their results in their order. */
  run(notes: Notes, calls: readonly Call[]): Step<Result[]>;
}

export interface Backend extends Statements {
  /**
   * Runs a step as one atomic write and settles after the commit. The step may run again, so it
   * changes nothing but the database and its notes. Rejects with `WriteFailed` when it could not be
   * saved, else with what the step threw.
   */
  write<T>(step: (notes: Notes) => Step<T>): Promise<T>;
  /** Makes a write whose calls of one turn share a commit, in order; `begin` runs once for it. */
  writeInTurn<Call, Result>(steps: WriteInTurn<Call, Result>): (call: Call) => Promise<Result>;
  /** Runs a step of one statement without notes as a write: PostgreSQL needs no transaction. */
  change<T>(step: () => Step<T>): Promise<T>;
  /** Reads. Each statement of a step may see later commits than the one before it. */
  read<T>(step: () => Step<T>): Maybe<T>;
  /** The time by which leases end, UTC ms: the database's where several nodes share it. */
  storeNowMs(): number;
  /** That time when this machine's clock says `atMs`. */
  storeMs(atMs: number): number;
}

/** What a read needs of a database. */
export type Reader = Pick<Backend, 'prepare' | 'read'>;

/**
 * The interface on which each noun of the store is written once, in `noun/`, for both databases;
 * `sqlite/backend.ts` and `postgres/backend.ts` implement it.
 *
 * @example disableDomain: (providerId, id, act) =>
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
import type { RefusedPhone } from '../core/event/fold.ts';
import type { Quota } from '../core/event/quota.ts';
import type { Act } from '../core/port/audit.ts';
import type { Happening } from '../core/port/event.ts';
import type { Figure } from '../core/port/figure.ts';
import type { Maybe } from '../core/port/maybe.ts';

/**
 * A part of a read or write, run by `yield*`. It yields what it waits for; on SQLite it waits for
 * nothing.
 */
export type Step<T> = Iterable<unknown, T, unknown>;

/** A value of a statement. Lists are for {@link Dialect.among} and the other fragments of lists. */
type Value = string | number | null | Uint8Array | readonly (string | number)[];
export type Values = Readonly<Record<string, Value>>;

/** A prepared statement. Each `:name` in it is a value that each run fills in. */
export interface Prepared<Row> {
  all(values?: Values): Step<Row[]>;
  get(values?: Values): Step<Row | null>;
  /** Returns the number of rows changed; on SQLite those of triggers are included. */
  run(values?: Values): Step<number>;
  /** Adds one row and returns its id. The text ends with {@link Dialect.returningId}. */
  insert(values?: Values): Step<number>;
}

/** Makes the content of an event; it may read first. */
export type MakeHappening = () => Happening | Step<Happening>;

/** The use of a quota. */
export interface QuotaShare {
  used: number;
  limit: number;
}

/** Records the side effects of a write. They are saved or dropped with the write. */
export interface Notes {
  /** Adds an entry about something of the provider to the audit log; null adds nothing. */
  audit(act: Act, deed: Deed | null, providerId?: number | null): void;
  /**
   * Adds an event, made at the write's end, if a webhook of its owner (null: operator) wants it.
   */
  event(providerId: number | null, atMs: number, happening: MakeHappening): void;
  /** Adds an event about a refused phone for the chats of the provider, within their bounds. */
  refusal(providerId: number, atMs: number, phone: RefusedPhone, happening: MakeHappening): void;
  /** Ends the fold of a destination if its hour is over: its sums are an event. */
  endFold(providerId: number | null, destinationId: number, atMs: number): void;
  /** Returns true if an enabled webhook of the owner wants events of the kind. */
  isWanted(providerId: number | null, kind: Happening['kind']): Step<boolean>;
  /** Adds an event if the use reaches a level for the first time. Needs the provider's lock. */
  quota(providerId: number, quota: Quota, share: QuotaShare, atMs: number): void;
  /** Disables a webhook that is enabled, with an event for the other webhooks of its owner. */
  disableWebhook(id: number, why: string, atMs: number): Step<void>;
  /** Drops the cached webhooks. A write that changes webhooks calls it. */
  forgetWebhooks(): void;
  /** Counts what the write did. */
  figure(providerId: number, figure: Figure, atMs: number, by?: number): void;
  /** Wakes the outbox worker after the commit, because the outbox has a new dispatch. */
  outbox(): void;
  /** Reports the final status of a distribution after the commit. */
  ended(status: number): void;
  /**
   * Signals after the commit to other nodes that these devices have new messages or another token.
   */
  changed(deviceIds: readonly number[]): void;
  /** As {@link changed}, and to this process too: a slot or link of the devices ended. */
  notifyEnd(deviceIds: readonly number[]): void;
  /** Rolls the write back; the write still returns `value`. */
  refuse(value: unknown): never;
}

/** Fragments of SQL that differ between the databases. */
export interface Dialect {
  /** Follows a SELECT in a write: locks its rows until the write ends. */
  readonly locked: SQL;
  /** As {@link locked}, without the rows that another write has locked. */
  readonly lockedUnlessBusy: SQL;
  /** As {@link lockedUnlessBusy}, for rows that the write may delete. */
  readonly deletableUnlessBusy: SQL;
  /**
   * As {@link locked}, for rows of `alias` to which others refer: no write deletes them meanwhile.
   */
  keyLocked(alias: string): SQL;
  /** `JOIN` in the written order of the tables (SQLite's planner would choose another). */
  readonly join: SQL;
  /** The column that orders rows of a table without an id by arrival. */
  readonly arrival: SQL;
  /** Follows a subquery and keeps PostgreSQL's planner from merging it with the query around it. */
  readonly fence: SQL;
  /** Follows an INSERT for {@link Prepared.insert}. */
  readonly returningId: SQL;
  /** A value that a planner must not see: see `once` of sqlite/statement.ts. */
  once(name: string): SQL;
  /** `IN` a list of numbers or (`text`) strings that is passed as one value. */
  among(name: string, type?: 'bigint' | 'text'): SQL;
  /** Rows from the JSON of a list of objects, for FROM with an alias; `n` numbers them from 0. */
  rows(name: string, columns: Readonly<Record<string, 'bigint' | 'text'>>): SQL;
  /** The id of a new row: this value, or the next one if it is null. */
  idOrNext(name: string, table: string): SQL;
  /** The larger, or smaller, of two values that are not null. */
  greatest(a: SQL, b: SQL): SQL;
  least(a: SQL, b: SQL): SQL;
  /**
   * Number of strangers (devices without holders) above a value; PostgreSQL stops counting early.
   */
  strangersBeyond(name: string): SQL;
  /** Condition: a column fits the pattern that is the value: see {@link Dialect.partPattern}. */
  fits(column: string, name: string): SQL;
  /**
   * Returns the pattern of a text that has, one after another, one of each of these characters.
   */
  partPattern(characters: readonly (readonly string[])[]): string;
  /** The bytes of a value in hex; null for null. */
  bytes(name: string): SQL;
  /** A column of bytes as lower-case hex; null for null. */
  hex(column: string): SQL;
}

type LockedTable = 'provider' | 'install' | 'device' | 'device_token' | MessageTable;
type MessageTable = 'distribution' | 'recipient' | 'destination';

/** Rows that a write locks: providers and links by id, devices by HWID. */
export type NeededRows = Readonly<
  Record<'provider' | 'install' | 'device', readonly (number | string)[]>
>;

/** Prepares and runs the statements of steps. */
export interface Statements extends Dialect {
  /** Most rows of a step of a long write, and the time after which it takes no more work, ms. */
  readonly stepCountMax: number;
  readonly stepMs: number;
  prepare<Row>(query: SQL<Row>): Prepared<Row>;
  /** Prepares a statement that only locks: SQLite needs none and runs nothing. */
  lockOnly(query: SQL): Prepared<unknown>;
  /** Locks the provider's row, which is the first in the order of locks; does nothing on SQLite. */
  lockProvider(providerId: number): Step<void>;
  /** Locks rows by id: devices in the order of their HWIDs, others in the order of their ids. */
  lockRows(rows: Partial<Record<LockedTable, readonly number[]>>): Step<void>;
  /**
   * Reads, locks the rows that the result needs, and repeats until they were locked before. It is
   * the first in a write: if a later read needs what comes before a held lock, the write is
   * repeated and locks all of them first.
   */
  readLocked<T>(read: () => Step<T>, needs: (result: T) => Step<NeededRows>): Step<T>;
  /** Prevents other writes from sealing or pruning the audit log, or changing operator webhooks. */
  lockAuditLog(): Step<void>;
  /** Sets the ids of new rows above this one; no other write adds rows until this one ends. */
  raiseIds(table: 'install' | 'domain', id: number): Step<void>;
  /** Runs independent steps; PostgreSQL runs them without waiting in between. */
  together<T extends readonly unknown[]>(
    steps: {
      readonly [Key in keyof T]: () => Step<T[Key]>;
    },
  ): Step<T>;
}

/** The steps of {@link Backend.writeInTurn}. */
export interface WriteInTurn<Call, Result> {
  /** Reads first; returns the results of calls that need no write, and undefined for the others. */
  answer?(calls: readonly Call[]): Step<(Result | undefined)[]>;
  begin(calls: readonly Call[]): Step<void>;
  /** Returns the amount of work of a call; absent: 1 for each. */
  sizeOf?(call: Call): number;
  /** Calls of one key run one after the other. */
  keyOf(call: Call): string;
  /** Runs calls of different keys; returns their results in their order. */
  run(notes: Notes, calls: readonly Call[]): Step<Result[]>;
}

export interface Backend extends Statements {
  /**
   * Runs a step as one atomic write and settles after the commit. The step may run again, so it
   * must change nothing but the database and its notes. Rejects with `WriteFailed` when it could
   * not be saved, else with the error of the step.
   */
  write<T>(step: (notes: Notes) => Step<T>): Promise<T>;
  /**
   * Makes a write whose calls of one turn share a commit, in order; `begin` runs once each time.
   */
  writeInTurn<Call, Result>(steps: WriteInTurn<Call, Result>): (call: Call) => Promise<Result>;
  /** Runs a step of one statement without notes as a write: PostgreSQL needs no transaction. */
  change<T>(step: () => Step<T>): Promise<T>;
  /** Reads. Each statement of a step may see later commits than the one before it. */
  read<T>(step: () => Step<T>): Maybe<T>;
  /** The clock of leases, UTC ms: the database's clock where several nodes share it. */
  storeNowMs(): number;
  /** Returns `atMs`, or during a leap of the clock the earliest time that may be right. */
  leastMs(atMs: number): number;
  /** Converts `atMs` of this machine's clock into that clock. */
  storeMs(atMs: number): number;
}

/** The parts of a database that a read needs. */
export type Reader = Pick<Backend, 'prepare' | 'read'>;

/**
 * A kind of store: what the program needs of one besides the port. `app.ts` alone chooses it, and
 * hands it to the parts that look after the data: backups, doctor, command line.
 */

import type { Clock } from '../clock.ts';
import type { Act } from '../core/port/audit.ts';
import type { Figure } from '../core/port/figure.ts';
import type { StatementKind } from '../core/port/health.ts';
import type { Store } from '../core/port/store.ts';
import type { Finding } from '../finding.ts';

export interface StoreKind {
  /** Opens the store. Throws `OperatorError` with the reason when it cannot. */
  open(options: StoreOptions): Promise<Store>;
  /**
   * Looks at the database for `gatepost doctor`: everything is read, nothing is changed. `hosts`
   * are looked up among the bindings.
   */
  survey(dataDir: string, hosts: readonly HostOfProvider[]): Promise<DatabaseReport>;
  /** The database as a file. Null: it is a server's, whose own tools back it up. */
  file: DatabaseFile | null;
}

export interface StoreOptions {
  dataDir: string;
  /** Permission to make or migrate the database if need be; otherwise that is refused. */
  create: boolean;
  /** Permission to migrate alone; as `create` unless given. A command beside a server has none. */
  migrates?: boolean;
  /** The most writes in one commit. */
  commitBatchMax: number;
  onCommit?: CommitObserver;
  onFigure?: FigureObserver;
  /** Hears, once on disk, that the outbox may have something to be tried at once. */
  onOutbox?: () => void;
  /** Hears, once on disk, with which status a distribution ended. */
  onDistributionEnd?: (status: number) => void;
  /** Hears once of each time that the database does not answer any more, and why. */
  onAway?: (problem: string) => void;
  /** Hears that it answers again: after how long, ms, and how many calls failed meanwhile. */
  onBack?: (awayMs: number, refusedCount: number) => void;
  /**
   * A server that does not answer yet is waited for until `signal`, and `onWaiting` hears once
   * that it is, and why. Absent: it is waited for some seconds.
   */
  waiting?: { signal: AbortSignal; onWaiting: (problem: string) => void };
  /**
   * Hears of each statement to a server, or transaction as a whole: how long it took, ms, and how
   * many calls shared it.
   */
  onStatement?: (kind: StatementKind, tookMs: number, callCount: number) => void;
  /** Hears that something is done again, and why: an SQLSTATE, or `connection`. */
  onRetry?: (why: string) => void;
  /** Hears of each signal of another process. */
  onSignal?: () => void;
  /** The machine's unless a test moves one. */
  clock?: Clock;
}

/**
 * Hears of every commit: how many writes were in it, for how long it had the lock, ms, and whether
 * it is on disk. Without the lock that time is 0 ms.
 */
export type CommitObserver = (writeCount: number, tookMs: number, isSaved: boolean) => void;

/** A host that should be bound at a provider, known by its code. */
export interface HostOfProvider {
  host: string;
  provider: string;
}

/** The binding of such a host. */
export type BoundHost = 'provider_not_found' | 'not_bound' | 'disabled' | 'active';

/** Hears of what is counted: of a change once it is on disk. */
export type FigureObserver = (figure: Figure, by: number) => void;

export interface DatabaseReport {
  findings: Finding[];
  /** The hosts that were asked for, in their order; empty if the database cannot be read. */
  hosts: BoundHost[];
  /** Gateways that are stopped, and why. */
  stopped: { gateway: string; problem: string }[];
  /** Whether a device has subscribed to Web Push, which binds it to the VAPID key. */
  hasSubscriptions: boolean;
  /** The latest time in it, UTC ms; null: unknown. */
  newestMs: number | null;
  /** Its size; 0: there is none. */
  bytes: number;
}

/** The business of a database that is one file: it can be copied, and another put in its place. */
export interface DatabaseFile {
  /**
   * Takes the database as it is now, beside running servers. Blocks while it copies. Throws
   * `OperatorError` when there is none, it is damaged, or there is no room; or the fault of a disk.
   */
  takeSnapshot(dataDir: string): Snapshot;
  /** Throws `OperatorError`, which names `file`, for a schema newer than this program's. */
  refuseNewer(file: string, schema: number): void;
  /** Takes in a database that is looked at and never used, in the first of `folders` with room. */
  inspect(folders: readonly string[]): Arrival;
  /**
   * Holds the place of the database, for which it makes the directory if need be. Throws
   * `OperatorError` while anybody has it open, or the fault of a disk.
   */
  replace(dataDir: string): Replacement;
}

/** The database at one moment, out of everybody else's reach. */
export interface Snapshot {
  bytes: number;
  contents: Contents;
  /** Reads from the beginning, each time it is called. */
  read(signal?: AbortSignal): AsyncIterable<Uint8Array>;
  drop(): void;
}

/** The contents of a database file, found by reading all of it. */
export interface Contents {
  schema: number;
  /** Row counts by table. */
  rows: Readonly<Record<string, number>>;
}

/** Takes the bytes of a database piece by piece, in order. */
export type Write = (chunk: Uint8Array) => Promise<void> | void;

/** A database that comes out of a backup. */
export interface Arrival {
  /** Makes room for so many bytes. Throws `OperatorError` when there is too little. */
  begin(bytes: number): Promise<Write>;
  /**
   * Reads all that arrived. Throws `OperatorError` that names what is wrong: with its structure,
   * its references, its schema, or that it is not Gatepost's.
   */
  contents(): Promise<Contents>;
  /** Leaves nothing behind but what was put in place. */
  drop(): Promise<void>;
}

/** An arrival that can take the place of the present database. */
export interface Replacement extends Arrival {
  /** The rows that the present database has and this one lacks, in one sentence; null: none. */
  loss(): string | null;
  /**
   * Puts it in place, with an entry in its audit log that it is of `momentMs`. At every moment
   * there is a whole database, the old or the new one. Returns where the old one lies now; null:
   * there was none.
   */
  putInPlace(act: Act, momentMs: number): string | null;
}

/** The part of the port that reports the state of the storage. */

/** Sizes of the data, bytes; null: the store has no such part, or cannot read its size. */
export interface StorageFacts {
  bytes: number | null;
  /** Free part of these, which new rows use first. */
  freeBytes: number | null;
  /** The log of changes that are not in the database file yet. */
  logBytes: number | null;
  /** Free space of the disk. */
  diskFreeBytes: number | null;
}

/** Distributions that wait for a worker. */
export interface QueueFacts {
  /** Distributions that are due or in delivery. */
  dueCount: number;
  scheduledCount: number;
  /** The time at which the oldest of the due ones became due; null: none is due. */
  oldestDueAtMs: number | null;
  /** Recipients of distributions in delivery that have not got the message. */
  recipientCount: number;
}

/** The state of a database server. */
export interface ServerFacts {
  /** Connections to the database, also those of other programs. */
  connectionCount: number;
  connectionCountMax: number;
  /** Time that the database's clock is ahead of this machine's, ms. */
  clockOffsetMs: number;
  /** Entries of the audit log outside of the chain so far; counted up to 10,000. */
  auditPendingCount: number;
  /** Gatepost processes that serve the database. */
  nodeCount: number;
}

/** Kinds of calls to a database server: single statements, and whole transactions. */
export const STATEMENT_KINDS = ['read', 'write', 'transaction'] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

/** Reasons why this process cannot write, although other processes may. */
export type Unfitness =
  /** A newer version of the program has changed the schema: this one must stop. */
  | 'schema_changed'
  | 'schema_newer'
  /** The database server does not answer in time. */
  | 'database_unreachable'
  /** The database server takes no writes: it is a standby. */
  | 'database_read_only'
  /** The data moved to another database, or have not all arrived. */
  | 'database_moved'
  /** The clocks of this machine and of the database differ too much for leases. */
  | 'clock_off';

export interface HealthStore {
  /**
   * Writes a row as any other write does. Returns why this process cannot write; throws
   * `WriteFailed` for all other causes.
   */
  checkWritable(): Promise<'ok' | Unfitness>;
  /** Reads the sizes of the data and the disk. */
  readStorageFacts(): Promise<StorageFacts>;
  /** Reads the state of the database server. Returns null if the database is a file. */
  readServerFacts(): Promise<ServerFacts | null>;
  /** Counts the distributions that wait for a worker. */
  readQueueFacts(nowMs: number): Promise<QueueFacts>;
}

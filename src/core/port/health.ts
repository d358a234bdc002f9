/** The part of the port by which operators see how the storage is. */

/** Room that the data takes, bytes; null: the store has no such thing, or cannot see it. */
export interface StorageFacts {
  bytes: number | null;
  /** Part of these that new rows will take first. */
  freeBytes: number | null;
  /** The log of changes that are not in the database itself yet. */
  logBytes: number | null;
  /** Room that the disk has left. */
  diskFreeBytes: number | null;
}

/** Work that waits for a worker. */
export interface QueueFacts {
  /** Distributions that can be delivered now, or are. */
  dueCount: number;
  scheduledCount: number;
  /** Time at which the first of the due ones became due; null: none is. */
  oldestDueAtMs: number | null;
  /** Recipients of what is in delivery that did not get it yet. */
  recipientCount: number;
}

/** A database that is a server's, as this process finds it. */
export interface ServerFacts {
  /** Connections to the database, anybody's. */
  connectionCount: number;
  connectionCountMax: number;
  /** Time that the database's clock is ahead of this machine's, ms. */
  clockOffsetMs: number;
  /** Entries of the audit log that are not in the chain yet; counted up to 10,000. */
  auditPendingCount: number;
  /** Processes that serve it. */
  nodeCount: number;
}

/** Ways in which a server is asked: statements by themselves, and transactions as a whole. */
export const STATEMENT_KINDS = ['read', 'write', 'transaction'] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

/** Reasons for which a process should not be asked, though its database may be. */
export type Unfitness =
  /** A newer version of the program has changed the data, and this one must not go on. */
  | 'schema_changed'
  | 'schema_newer'
  /** Nobody answers at the database's address, or not in time. */
  | 'database_unreachable'
  /** The database there takes no writes: it is a standby. */
  | 'database_read_only'
  /** All data moved elsewhere, or have not all arrived. */
  | 'database_moved'
  /** This machine's clock and the database's are too far apart for leases to hold. */
  | 'clock_off';

export interface HealthStore {
  /**
   * Saves something, as any other write would. Throws `WriteFailed` when nothing can be saved for
   * another reason than those that it answers.
   */
  checkWritable(): Promise<'ok' | Unfitness>;
  storageFacts(): Promise<StorageFacts>;
  /** Null: the database is no server's. */
  serverFacts(): Promise<ServerFacts | null>;
  queueFacts(nowMs: number): Promise<QueueFacts>;
}

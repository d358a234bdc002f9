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

export interface HealthStore {
  /**
   * Saves something, as any other write would. `schema_changed`: a newer version of the program has
   * changed the data meanwhile. Throws `WriteFailed` when nothing can be saved.
   */
  checkWritable(): Promise<'ok' | 'schema_changed'>;
  storageFacts(): Promise<StorageFacts>;
  queueFacts(nowMs: number): Promise<QueueFacts>;
}

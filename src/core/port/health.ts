/** The part of the port by which operators see how the storage is. */

/** How much room the data takes, bytes; null: the store has no such thing, or cannot see it. */
export interface StorageFacts {
  bytes: number | null;
  /** Of these: room for new rows that is there already. */
  freeBytes: number | null;
  /** The log of changes that are not in the database itself yet. */
  logBytes: number | null;
  /** Room that the disk has left. */
  diskFreeBytes: number | null;
}

/** What waits for a worker. */
export interface QueueFacts {
  /** Distributions that can be delivered now, or are. */
  dueCount: number;
  scheduledCount: number;
  /** Since when the first of the due ones should be delivered; null: none is due. */
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

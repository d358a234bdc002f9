/** The audit log: its records, and the part of the port that remembers them. */

/** The one who does something. Nothing of it is secret. */
export interface Actor {
  kind: 'operator' | 'provider' | 'system';
  /** The operator's name on the machine, a provider's code, or the part of the program. */
  name: string;
  /** A provider's key, by `keyFingerprint` in core/secret.ts. */
  key?: string;
  /** A client's address as it is counted, or how the operator was at the machine. */
  from: string;
}

/** A deed's actor and time. */
export interface Act {
  /** Throws if whoever asked is gone by now: then nothing is to be changed. */
  readonly actor: Actor;
  readonly atMs: number;
}

/** The entries of one commit. */
export interface AuditBlock {
  /** Number of its last entry; entries are numbered from 1 on without a gap. */
  number: number;
  /** Time of its last entry. */
  atMs: number;
  /** Hash of the block before; zeros for the first. */
  prevHash: Uint8Array;
  /** SHA-256 of the block as `bodyOf` in core/audit/chain.ts writes it. */
  hash: Uint8Array;
  /** JSON array of entries. */
  entries: string;
}

/** Rest of the blocks that were pruned: the last of them. */
export interface AuditAnchor {
  /** Number of the last entry that was pruned, so of all of them. */
  number: number;
  hash: Uint8Array;
  /** Time of the last of them; null: nothing was pruned. */
  untilMs: number | null;
}

/** Entries from before `beforeMs` are to go, and the oldest if there are more than `entriesMax`. */
export interface PruneBounds {
  beforeMs: number;
  entriesMax: number;
}

export interface AuditStore {
  /** The blocks after the entry `afterNumber`, oldest first, and the anchor of the same moment. */
  readAudit(
    afterNumber: number,
    countMax: number,
  ): Promise<{ anchor: AuditAnchor; blocks: AuditBlock[] }>;
  /** The blocks before `beforeNumber`, newest first. */
  readAuditBack(beforeNumber: number, countMax: number): Promise<AuditBlock[]>;
  /**
   * Deletes some blocks from the old end: those whose last entry is from before `beforeMs`, up to
   * the first that is not, and those that are too many if no more than `entriesMax` entries are to
   * be left. Leaves an entry about it. False: nothing more is to be deleted.
   */
  pruneAudit(bounds: PruneBounds, act: Act): Promise<boolean>;
}

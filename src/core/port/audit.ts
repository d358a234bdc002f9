/** The audit log: its records and their part of the port. */

/** The author of a deed. No field is secret. */
export interface Actor {
  kind: 'account' | 'operator' | 'provider' | 'system' | 'user';
  /**
   * The name of the account, of the operator's user, or of a part of the program; the provider's
   * code; `user` for the user of a link.
   */
  name: string;
  /** The fingerprint of the provider's key: `keyFingerprint` of core/secret.ts. */
  key?: string;
  /** The client's address in the form of the limits; for an operator `local` or `ssh ADDRESS`. */
  from: string;
  /**
   * For an account: a provider of which it is staff, where a record does not tell; null: it has a
   * role at the appliance. No entry has it.
   */
  staffOf?: string | null;
}

/** The actor and the time of a deed. */
export interface Act {
  /** Throws if the caller has disconnected: the step must not change anything then. */
  readonly actor: Actor;
  readonly atMs: number;
  /** The setting `audit.entries_max`, of which a provider has a share; absent: its default. */
  readonly entriesMax?: number;
  /** True for a part of a job, which has a single entry at its end. */
  readonly isOfJob?: boolean;
}

/** The entries of one commit. */
export interface AuditBlock {
  /** Number of its last entry. Entries are numbered from 1 without a gap. */
  number: number;
  /** Time of its last entry. */
  atMs: number;
  /** Hash of the previous block; zeros in the first block. */
  prevHash: Uint8Array;
  /** SHA-256 of the block's text, which `bodyOf` of core/audit/chain.ts writes. */
  hash: Uint8Array;
  /** JSON array of entries. */
  entries: string;
}

/** The last pruned block: the chain continues from its hash. */
export interface AuditAnchor {
  /** Number of the last pruned entry, which is the number of all pruned entries. */
  number: number;
  hash: Uint8Array;
  /** Time of that entry; null: nothing was pruned. */
  untilMs: number | null;
}

/** Pruning deletes entries before `beforeMs`, and the oldest beyond `entriesMax`. */
export interface PruneBounds {
  beforeMs: number;
  entriesMax: number;
}

export interface AuditStore {
  /**
   * Reads at most `countMax` blocks after the entry `afterNumber`, oldest first, with the anchor of
   * the same moment.
   */
  readAudit(
    afterNumber: number,
    countMax: number,
  ): Promise<{ anchor: AuditAnchor; blocks: AuditBlock[] }>;
  /** Reads at most `countMax` blocks before the entry `beforeNumber`, newest first. */
  readAuditBack(beforeNumber: number, countMax: number): Promise<AuditBlock[]>;
  /**
   * Deletes some of the oldest blocks, as long as their last entry is before `beforeMs` or more
   * than `entriesMax` entries are left, and records that as an entry. Returns false if there was
   * nothing to delete.
   */
  pruneAudit(bounds: PruneBounds, act: Act): Promise<boolean>;
  /**
   * Adds the entry of deeds of one action by a provider that were folded for a minute, for some
   * providers. Those of a provider that used up its share of the day wait. Returns false if there
   * was nothing to add.
   */
  endFolds(nowMs: number, entriesMax: number): Promise<boolean>;
  /** Adds the entry of an account of the appliance that opened a provider's pages. */
  noteVisit(providerId: number, act: Act): Promise<void>;
  /** Adds the entry of a database copy that was made for a download. */
  noteDownload(act: Act): Promise<void>;
}

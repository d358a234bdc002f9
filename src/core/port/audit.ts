/** The part of the port in store.ts that is about the audit log. The same rules hold. */

import type { AuditAnchor, AuditLink } from '../audit/chain.ts';
import type { Act } from '../audit/entry.ts';

export interface AuditStore {
  /** The links after the entry `afterNumber`, oldest first, and the anchor of the same moment. */
  readAudit(
    afterNumber: number,
    countMax: number,
  ): Promise<{ anchor: AuditAnchor; links: AuditLink[] }>;
  /** The links before `beforeNumber`, newest first. */
  readAuditBack(beforeNumber: number, countMax: number): Promise<AuditLink[]>;
  /**
   * Deletes some links from the old end: those whose last entry is from before `beforeMs`, up to
   * the first that is not, and those that are too many if no more than `entriesMax` entries are to
   * be left. Leaves an entry about it. False: nothing more is to be deleted.
   */
  pruneAudit(bounds: { beforeMs: number; entriesMax: number }, act: Act): Promise<boolean>;
}

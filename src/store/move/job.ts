/** The job and the report of a move. */

import type { AuditMeasure, AuditVerdict } from '../../core/audit/verify.ts';
import type { Act } from '../../core/port/audit.ts';
import type { DatabaseOptions } from '../postgres/database-options.ts';

/** Where the data is and where it goes. */
export interface MovePlaces {
  dataDir: string;
  place: DatabaseOptions;
}

export interface MoveJob {
  /** True: check only, and change nothing. */
  isCheck: boolean;
  /** True: also replace the rows that an earlier move to a file left on the server. */
  isForced: boolean;
  act: Act;
  /** The settings for the audit log. */
  auditBounds: Pick<AuditMeasure, 'auditDays' | 'auditEntriesMax'>;
  onRows: (done: number, total: number) => void;
  onStep: (step: string) => void;
  signal: AbortSignal;
}

/** The rows that were moved, or would be. */
export interface MoveReport {
  /** Rows by table. */
  rows: Readonly<Record<string, number>>;
  audit: AuditVerdict;
  /** True: an earlier move had copied the rows, and this one only put them into use. */
  wasFinished: boolean;
  /** The file that was replaced; null: none. */
  kept: string | null;
}

/**
 * Moves the data, or checks whether it can be moved. Throws {@link OperatorError} with the reason
 * if not.
 */
export type Move = (job: MoveJob) => Promise<MoveReport>;

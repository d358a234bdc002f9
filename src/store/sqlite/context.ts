import type { Clock } from '../../clock.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Connection } from './connection.ts';
import type { FigureTrail } from './figure-trail.ts';
import type { GroupWriter } from './writer.ts';

/** The parts that each noun's file is built on. */
export interface Context {
  db: Connection;
  writer: GroupWriter;
  /** Takes what a write changed for an operator or a provider. */
  audit: AuditTrail;
  /** Counts what a write did. */
  figures: FigureTrail;
  /** The store's own: leases end by it. */
  clock: Clock;
}

import type { Clock } from '../../clock.ts';
import type { Announcements } from './announcements.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Connection } from './connection.ts';
import type { EventTrail } from './event-trail.ts';
import type { FigureTrail } from './figure-trail.ts';
import type { OutboxSignal } from './outbox-signal.ts';
import type { GroupWriter } from './writer.ts';

/** The parts that each noun's file is built on. */
export interface Context {
  db: Connection;
  writer: GroupWriter;
  /** Takes what a write changed for an operator or a provider. */
  audit: AuditTrail;
  /** Counts what a write did. */
  figures: FigureTrail;
  /** Takes what a write has to tell webhooks. */
  events: EventTrail;
  /** To be raised by a write that puts something into the outbox. */
  outbox: OutboxSignal;
  /** Takes the status with which a distribution ended. */
  ends: Announcements<number>;
  /** The store's own: leases end by it. */
  clock: Clock;
}

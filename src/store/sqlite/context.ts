import type { Clock } from '../../base/clock.ts';
import type { LeastMs } from '../kind.ts';
import type { WriteNotes } from '../noun/notes.ts';
import type { Connection } from './connection.ts';
import type { GroupWriter } from './writer.ts';

/** The parts of the store. */
export interface Context {
  db: Connection;
  writer: GroupWriter;
  notes: WriteNotes;
  /** The store's own clock, which leases use. */
  clock: Clock;
  leastMs: LeastMs;
}

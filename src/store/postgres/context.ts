import type { Clock } from '../../clock.ts';
import type { Write, WriteParts } from './write.ts';

/** The parts that each noun's file is built on. */
export interface Context extends WriteParts {
  /** Runs a short transaction: see write.ts. */
  write<T>(work: (w: Write) => Promise<T>): Promise<T>;
  clock: Clock;
  /** The time by the database's clock, UTC ms: leases end by it. */
  storeNowMs(): number;
  /** Returns the database's time, UTC ms, when this machine's clock says `atMs`. */
  storeMs(atMs: number): number;
}

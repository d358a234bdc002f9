import type { Clock } from '../../clock.ts';
import type { Write, WriteParts } from './write.ts';

/** The parts on which the file of each noun is built. */
export interface Context extends WriteParts {
  /** Runs a short transaction: see write.ts. */
  write<T>(work: (w: Write) => Promise<T>): Promise<T>;
  clock: Clock;
  /** The time by the database's clock, UTC ms, which leases use. */
  storeNowMs(): number;
  /** Returns the database's time, UTC ms, when this machine's clock says `atMs`. */
  storeMs(atMs: number): number;
}

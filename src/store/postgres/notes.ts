/** What writes gather of their changes. */

import type { Runner } from './statement.ts';

/** Notes of a transaction: saved at its end, announced after its commit. */
export interface Notes {
  /** Saves what is noted, within the transaction. */
  seal(on: Runner): Promise<void>;
  /** The transaction is over. */
  clear(isSaved: boolean): void;
}

/** A transaction that tells, after its commit, that something waits in the outbox. */
export interface Raising extends Runner {
  raiseOutbox(): void;
}

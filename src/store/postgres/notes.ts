/** What writes gather of their changes. */

import type { Runner } from './statement.ts';

/** A transaction that tells, after its commit, that something waits in the outbox. */
export interface Raising extends Runner {
  raiseOutbox(): void;
}

/** The priority of backups: they give way where the processor or memory is short. */

import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Gives a process, this one unless another is named, the processor time that others leave over, and
 * makes it the first to go when memory is short, before a server beside it.
 */
export function yieldToOthers(pid?: number): void {
  for (const step of [
    () => setPriority(pid ?? 0, constants.priority.PRIORITY_LOW),
    () => writeFileSync(`/proc/${pid ?? 'self'}/oom_score_adj`, '1000'),
  ]) {
    try {
      step();
    } catch {
      // The packaged unit, for one, does not allow it; the backup matters more.
    }
  }
}

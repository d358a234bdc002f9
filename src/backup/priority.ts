/** The low priority of backups. */

import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Lowers the priority of a process, by default this one, and makes it the first that the system
 * kills when memory is short, before a server beside it.
 */
export function yieldToOthers(pid?: number): void {
  for (const step of [
    () => setPriority(pid ?? 0, constants.priority.PRIORITY_LOW),
    () => writeFileSync(`/proc/${pid ?? 'self'}/oom_score_adj`, '1000'),
  ]) {
    try {
      step();
    } catch {
      // The packaged unit does not allow it, and the backup matters more.
    }
  }
}

/** Backups give way: to whoever wants the processor, and when memory is short. */

import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * From now on a process, this one unless another is named, gets the processor time that others
 * leave over, and is the one that goes when memory is short, not a server beside it.
 */
export function yieldToOthers(pid?: number): void {
  for (const step of [
    () => setPriority(pid ?? 0, constants.priority.PRIORITY_LOW),
    () => writeFileSync(`/proc/${pid ?? 'self'}/oom_score_adj`, '1000'),
  ]) {
    try {
      step();
    } catch {
      // Not everywhere is it allowed, such as under the packaged unit, and a backup comes first.
    }
  }
}

/** What the commands are handed. */

import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { kindOf } from './container.ts';
import { makeBackup } from './make.ts';
import { readPassphrase } from './passphrase.ts';
import { restoreBackup, verifyBackup } from './restore.ts';

export const backupTools = {
  makeBackup,
  verifyBackup,
  restoreBackup,
  readPassphrase,
  kindOf,
  yieldToOthers,
};

/**
 * From now on this process gets the processor time that others leave over, and is the one that goes
 * when memory is short, not a server beside it.
 */
function yieldToOthers(): void {
  for (const step of [
    () => setPriority(constants.priority.PRIORITY_LOW),
    () => writeFileSync('/proc/self/oom_score_adj', '1000'),
  ]) {
    try {
      step();
    } catch {
      // Not everywhere is it allowed, such as under the packaged unit, and a backup comes first.
    }
  }
}

export type BackupTools = typeof backupTools;

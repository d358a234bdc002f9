/** What the commands are handed. */

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
  /** From now on this process gets what others leave over. */
  yieldToOthers: () => setPriority(constants.priority.PRIORITY_LOW),
};

export type BackupTools = typeof backupTools;

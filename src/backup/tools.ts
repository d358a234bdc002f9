/** What the commands are handed. */

import { kindOf } from './container.ts';
import { makeBackup } from './make.ts';
import { readPassphrase } from './passphrase.ts';
import { yieldToOthers } from './priority.ts';
import { restoreBackup, verifyBackup } from './restore.ts';

export const backupTools = {
  makeBackup,
  verifyBackup,
  restoreBackup,
  readPassphrase,
  kindOf,
  yieldToOthers,
};

export type BackupTools = typeof backupTools;

/** The tools for backups of one kind of store. */

import { OperatorError } from '../base/operator-error.ts';
import type { DatabaseFile, StoreKind } from '../store/kind.ts';
import { kindOf } from './container.ts';
import { type BackupOrder, makeBackup } from './make.ts';
import { readPassphrase } from './passphrase.ts';
import { yieldToOthers } from './priority.ts';
import { type RestoreOrder, restoreBackup, type VerifyOrder, verifyBackup } from './restore.ts';

const NO_FILE =
  "the database is not a file on this machine: use the tools of PostgreSQL, 'pg_dump -Fc' and " +
  "'pg_restore --clean --if-exists'";

/** Makes the tools. Throws `OperatorError` if the database of the store is not a file. */
export function backupTools({ file }: StoreKind) {
  if (file === null) throw new OperatorError(NO_FILE);
  const database: DatabaseFile = file;
  return {
    makeBackup: async (order: BackupOrder) => makeBackup(database, order),
    verifyBackup: async (order: VerifyOrder) => verifyBackup(database, order),
    restoreBackup: async (order: RestoreOrder) => restoreBackup(database, order),
    readPassphrase,
    kindOf,
    yieldToOthers,
  };
}

export type BackupTools = ReturnType<typeof backupTools>;

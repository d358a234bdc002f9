/** The backup of a database that a migration is about to change. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { makeOwnFolder } from '../base/permissions.ts';
import { timeInName } from '../core/calendar.ts';
import { asDiskFault } from '../disk/fault.ts';
import { removeLeftovers } from '../disk/scratch.ts';
import { readPassphrase } from './passphrase.ts';
import { backupFolder, type RunBackup, rotate, type ShelfSettings } from './shelf.ts';

/** Names of these backups; no other file is deleted. */
const OWN_NAME = /^gatepost-before-migration-\d{8}T\d{6}Z\.backup$/;
/** Backups that are kept: that of this migration and that of the one before. */
const KEEP = 2;

/**
 * Makes a backup beside the scheduled ones and deletes older ones of its kind. Returns its path.
 * Throws `OperatorError`, which names the setting, if it fails: the start is refused then.
 */
export async function backUpBeforeMigration(
  settings: ShelfSettings,
  nowMs: number,
  run: RunBackup,
  signal: AbortSignal,
): Promise<string> {
  const folder = backupFolder(settings);
  const name = `gatepost-before-migration-${timeInName(nowMs)}.backup`;
  const file = join(folder, name);
  try {
    makeOwnFolder(folder);
    removeLeftovers(folder, (target) => OWN_NAME.test(target));
    await run(file, settings.dataDir, readPassphrase(undefined, settings), signal);
    rotate(folder, OWN_NAME, name, KEEP);
  } catch (fault) {
    // Another server of the same data began in the same second, and its backup is this one.
    if (existsSync(file)) return file;
    if (signal.aborted) throw fault;
    const why = messageOf(asDiskFault(fault, folder));
    throw new OperatorError(
      `the database cannot be backed up before its migration: ${why}; make room, or set backup.before_migration = false`,
    );
  }
  return file;
}

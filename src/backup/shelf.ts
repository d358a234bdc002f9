/** The folder of scheduled backups: adds new ones and deletes the oldest. */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorIn, OperatorError } from '../base/operator-error.ts';
import { makeOwnFolder } from '../base/permissions.ts';
import { timeInName } from '../core/calendar.ts';
import { asDiskFault } from '../disk/fault.ts';
import { takeLock } from '../disk/lock.ts';
import { removeLeftovers } from '../disk/scratch.ts';
import { type PassphraseSettings, readPassphrase, STANDARD_INPUT } from './passphrase.ts';
import { yieldToOthers } from './priority.ts';

/** Settings, read for each backup, so that a change takes effect at once. */
export interface ShelfSettings extends PassphraseSettings {
  readonly dataDir: string;
  readonly backupDirectory: string;
  readonly backupKeep: number;
}

interface MadeBackup {
  file: string;
  bytes: number;
  /** Names of the deleted backups. */
  removed: string[];
}

/** Names of scheduled backups; no other file is deleted. */
const OWN_NAME = /^gatepost-(\d{8}T\d{6}Z)\.backup$/;
const LOCK_FILE = '.gatepost-backup.lock';
/** Age up to which a backup of another server counts as the one that is due, ms. */
export const SAME_TIME_MS = 50_000;

/** Returns the absolute path of the folder of scheduled backups. */
export function backupFolder(settings: Pick<ShelfSettings, 'dataDir' | 'backupDirectory'>): string {
  return resolve(settings.backupDirectory || join(settings.dataDir, 'backups'));
}

/** Lists the names of the scheduled backups in a folder, the newest first. */
export function scheduledBackups(folder: string): string[] {
  return namesLike(folder, OWN_NAME);
}

/** Lists the names in a folder that match, the newest first. */
function namesLike(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .reverse();
}

/** Returns the time in the name of a scheduled backup, UTC ms. */
export function momentOf(name: string): number {
  const digits = OWN_NAME.exec(name)?.[1] ?? '';
  const iso = digits.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso);
}

/** Returns the newest scheduled backup of any process; null: there is none. */
export function newestScheduled(settings: Pick<ShelfSettings, 'dataDir' | 'backupDirectory'>) {
  const folder = backupFolder(settings);
  const [name] = scheduledBackups(folder);
  if (name === undefined) return null;
  const file = join(folder, name);
  return { file, atMs: momentOf(name), bytes: statSync(file).size };
}

/** Runs `gatepost backup` in another process, which `signal` stops. */
export type RunBackup = (
  file: string,
  dataDir: string,
  passphrase: string | null,
  signal: AbortSignal,
) => Promise<{ bytes: number }>;

/**
 * Makes a backup and then deletes the oldest beyond `backupKeep`, never the new one. Returns null
 * if another process is making or has just made it. Throws `OperatorError` and deletes no backup if
 * it fails.
 */
export async function addScheduledBackup(
  settings: ShelfSettings,
  nowMs: number,
  run: RunBackup,
  signal: AbortSignal,
): Promise<MadeBackup | null> {
  const folder = backupFolder(settings);
  const release = openShelf(folder);
  if (release === null) return null;
  try {
    const [newest] = scheduledBackups(folder);
    if (newest !== undefined && Math.abs(nowMs - momentOf(newest)) < SAME_TIME_MS) return null;
    removeLeftovers(folder, isOwnName);
    const name = `gatepost-${timeInName(nowMs)}.backup`;
    const passphrase = readPassphrase(undefined, settings);
    const { bytes } = await run(join(folder, name), settings.dataDir, passphrase, signal);
    return {
      file: join(folder, name),
      bytes,
      removed: rotate(folder, OWN_NAME, name, settings.backupKeep),
    };
  } finally {
    release();
  }
}

/** Creates and locks the folder. Returns null if another process holds the lock. */
function openShelf(folder: string): (() => void) | null {
  try {
    makeOwnFolder(folder);
    return takeLock(join(folder, LOCK_FILE), 'exclusive', 0);
  } catch (fault) {
    throw asDiskFault(fault, folder);
  }
}

const isOwnName = (name: string) => OWN_NAME.test(name);

/** Deletes the leftovers of killed backups and restores. */
export function clearUp(settings: Pick<ShelfSettings, 'dataDir' | 'backupDirectory'>): void {
  removeLeftovers(settings.dataDir, () => false);
  removeLeftovers(backupFolder(settings), isOwnName);
}

/** Deletes the oldest backups whose names match, never the one just made. Returns their names. */
export function rotate(folder: string, pattern: RegExp, made: string, keep: number): string[] {
  const older = namesLike(folder, pattern).filter((name) => name !== made);
  const removed = older.slice(Math.max(keep - 1, 0));
  for (const name of removed) rmSync(join(folder, name));
  return removed;
}

/** Time from SIGTERM until a backup is killed, ms. */
const STOP_GRACE_MS = 3_000;

const KILLED =
  'the backup process was killed, perhaps because memory is short: ' +
  'a backup takes about 110 MiB, and 150 MiB with a passphrase';

/** Makes a runner that starts this program again; `program` begins its command line. */
export function backupByChild(program: readonly string[], stopGraceMs = STOP_GRACE_MS): RunBackup {
  return async (file, dataDir, passphrase, signal) => {
    const words = ['backup', file, '--data', dataDir, '--config', 'none', '--json'];
    // By stdin: process lists show arguments and environments.
    const secret = passphrase === null ? [] : ['--passphrase-file', STANDARD_INPUT];
    const child = Bun.spawn([...program, ...words, ...secret], {
      stdin: passphrase === null ? 'ignore' : Buffer.from(`${passphrase}\n`),
      stdout: 'pipe',
      stderr: 'pipe',
      env: process.env,
    });
    let force: ReturnType<typeof setTimeout> | undefined;
    // The command lowers its own priority too, but only after its start.
    yieldToOthers(child.pid);
    const stop = () => {
      child.kill('SIGTERM');
      // The child handles no signal while it copies, perhaps for longer than a stop may take.
      force = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      const [printed, complaint] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      if (signal.aborted) throw new OperatorError('the server stops');
      if (child.exitCode === 0) return JSON.parse(printed) as { bytes: number };
      if (child.signalCode === 'SIGKILL') throw new OperatorError(KILLED);
      throw complaint.trim() === ''
        ? new OperatorError(`the backup process ended with ${child.signalCode ?? child.exitCode}`)
        : errorIn(complaint);
    } finally {
      clearTimeout(force);
      signal.removeEventListener('abort', stop);
    }
  };
}

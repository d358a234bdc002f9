/** Processes and the locks that they hold on files, as Linux lists them in `/proc`. */

import { readFileSync, statSync } from 'node:fs';

/**
 * The bytes that SQLite locks against writers: in the shared memory beside the database the lock of
 * writers, then that of a recovery; in the database those of a process that uses it alone.
 */
const PLACES = [
  { suffix: '-shm', from: 120, to: 120 },
  { suffix: '-shm', from: 122, to: 122 },
  { suffix: '', from: 2 ** 30, to: 2 ** 30 + 511 },
];

/** States of a process that explain why it keeps a lock. */
const STATES: Readonly<Record<string, string>> = {
  T: ', stopped',
  t: ', stopped by a debugger',
  D: ', waiting for a disk',
};

/**
 * Returns who holds a SQLite database against writers, as far as the system shows it. Never throws.
 */
export function describeLock(file: string): string {
  const pids = PLACES.map(({ suffix, from, to }) => holderOf(`${file}${suffix}`, from, to));
  const pid = pids.find((one) => one !== null);
  if (pid === undefined) return 'another process holds its lock';
  return `${describeProcess(pid)} holds its lock`;
}

/** Returns a process with its program, and with its state if it does not run. */
export function describeProcess(pid: number): string {
  const [, name = '', state = ''] = read(`/proc/${pid}/stat`).match(/\((.*)\) (\S)/s) ?? [];
  return `process ${pid} (${name || 'a program'}${STATES[state] ?? ''})`;
}

/** Returns the other process with a lock for writing on some of these bytes of a file. */
function holderOf(file: string, from: number, to: number): number | null {
  const found = locksOn(file).find(
    ({ kind, first, last }) => kind === 'WRITE' && first <= to && last >= from,
  );
  return found?.pid ?? null;
}

/** Returns the other processes with a shared lock on a file, as far as the system shows them. */
export function sharersOf(file: string): number[] {
  const shared = locksOn(file).filter(({ kind }) => kind === 'READ');
  return [...new Set(shared.map(({ pid }) => pid))];
}

interface Lock {
  kind: string;
  pid: number;
  /** The first and the last of the locked bytes. */
  first: number;
  last: number;
}

/** Lists the locks of other processes on a file. */
function locksOn(file: string): Lock[] {
  const inode = inodeOf(file);
  return (
    read('/proc/locks')
      .split('\n')
      // 1: POSIX  ADVISORY  WRITE 4711 00:2f:1234 120 120
      .map((line) => line.trim().split(/\s+/))
      .filter(({ 5: place }) => place?.split(':')[2] === inode)
      .map(({ 3: kind = '', 4: pid, 6: first, 7: last }) => ({
        kind,
        pid: Number(pid),
        first: Number(first),
        last: last === 'EOF' ? Number.POSITIVE_INFINITY : Number(last),
      }))
      .filter(({ pid }) => pid > 0 && pid !== process.pid)
  );
}

function inodeOf(file: string): string {
  try {
    return String(statSync(file).ino);
  } catch {
    return 'none';
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

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
  const [, name = '', state = ''] = read(`/proc/${pid}/stat`).match(/\((.*)\) (\S)/s) ?? [];
  return `process ${pid} (${name || 'a program'}${STATES[state] ?? ''}) holds its lock`;
}

/** Returns the other process with a lock for writing on some of these bytes of a file. */
function holderOf(file: string, from: number, to: number): number | null {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  for (const line of read('/proc/locks').split('\n')) {
    // 1: POSIX  ADVISORY  WRITE 4711 00:2f:1234 120 120
    const [, , , kind, pid, place, first, last] = line.trim().split(/\s+/);
    if (kind !== 'WRITE' || place?.split(':')[2] !== String(inode)) continue;
    const isThere = Number(first) <= to && (last === 'EOF' || Number(last) >= from);
    if (isThere && Number(pid) > 0 && Number(pid) !== process.pid) return Number(pid);
  }
  return null;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

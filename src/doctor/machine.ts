/** Checks the machine: disk space and the clock. */

import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { counted } from '../core/counted.ts';
import { mib } from '../disk/room.ts';
import { about, type Finding } from '../finding.ts';
import { messageOf } from '../operator-error.ts';

const MIB = 1024 ** 2;
/** Free space below which writes may soon fail, bytes. */
const SPACE_BYTES_MIN = 64 * MIB;
const SPACE_BYTES_LOW = 512 * MIB;
const INODES_MIN = 1_000;

/**
 * Checks the free space on the disk of `folder`, which needs `needBytes` more: for a copy during a
 * backup, or for a database that is restored.
 */
export function checkSpace(name: string, folder: string, needBytes: number): Finding[] {
  const say = about(name);
  const present = nearest(folder);
  try {
    const { bavail, bsize, ffree, files } = statfsSync(present);
    const free = bavail * bsize;
    const what = `${mib(free)} MiB are free on the disk of ${present}`;
    const todo = 'free space or enlarge the disk';
    if (free < SPACE_BYTES_MIN)
      return [say.problem('disk_full', `the disk is full, or nearly full: ${what}`, todo, present)];
    if (files > 0 && ffree < INODES_MIN) {
      return [
        say.problem(
          'disk_files_full',
          `the disk of ${present} has room for only ${counted(ffree, 'more file')}`,
          todo,
          present,
        ),
      ];
    }
    if (free < needBytes * 2 || free < SPACE_BYTES_LOW) {
      return [
        say.warning(
          'disk_nearly_full',
          `${what}, the database has ${mib(needBytes)} MiB`,
          todo,
          present,
        ),
      ];
    }
    return [say.ok(what)];
  } catch (error) {
    return [
      say.warning(
        'disk_space_unknown',
        `the space of ${present} is unknown: ${messageOf(error)}`,
        'check with df',
      ),
    ];
  }
}

/** Returns the folder, or the nearest parent that exists. */
function nearest(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

/** The time of this program: a clock before it is wrong. */
const EARLIEST_MS = Date.UTC(2026, 10, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
/** The tolerated step back of a clock between two starts, ms. */
const DRIFT_MAX_MS = 5_000;

/** Checks the clock against `newestMs`, the latest time in database and backups; null: unknown. */
export function checkClock(nowMs: number, newestMs: number | null): Finding[] {
  const say = about('clock');
  const shown = new Date(nowMs).toISOString();
  const todo = 'set the clock, and enable NTP (timedatectl set-ntp true)';
  if (nowMs < EARLIEST_MS) {
    return [
      say.problem(
        'clock_behind',
        `the clock shows ${shown}, a time before this program was written`,
        todo,
      ),
    ];
  }
  if (nowMs > LATEST_MS) return [say.problem('clock_ahead', `the clock shows ${shown}`, todo)];
  if (newestMs !== null && newestMs > nowMs + DRIFT_MAX_MS) {
    const latest = new Date(newestMs).toISOString();
    const what = `the clock shows ${shown}, but a record has the time ${latest}: the clock is slow, or was fast`;
    return [say.problem('clock_behind_records', what, todo)];
  }
  return [say.ok(`the clock shows ${shown}, later than all records`)];
}

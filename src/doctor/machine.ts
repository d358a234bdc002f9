/** Checks the machine: disk space and the clock. */

import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { scheduledBackups } from '../backup/shelf.ts';
import { about, type Finding } from '../base/finding.ts';
import { messageOf } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import { freeBytes, mib, SPARE_BYTES } from '../disk/room.ts';

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

/** How much larger than the last backup the next may be. */
const GROWTH = 1.25;

/** Checks the room for the next backup: as much as the last one and a quarter, or the database. */
export function checkBackupRoom(folder: string, databaseBytes: number): Finding[] {
  const [newest] = scheduledBackups(folder);
  const last = newest && statSync(join(folder, newest), { throwIfNoEntry: false });
  const need = last ? last.size * GROWTH : databaseBytes;
  const present = nearest(folder);
  const free = attempt(() => freeBytes(present));
  // checkSpace reports a space that is unknown.
  if (free === null || free >= need + SPARE_BYTES) return [];
  return [
    about('backups').problem(
      'backup_without_room',
      `the next backup needs some ${mib(need)} MiB, and ${mib(free)} MiB are free on the disk of ${present}`,
      'free space there, lower backup.keep, or set backup.directory to a larger disk',
      present,
    ),
  ];
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
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

/** The difference to another machine's clock that delays of an answer do not explain, ms. */
const OFFSET_MAX_MS = 120_000;

/** A time that another machine showed in an answer. */
export interface ShownDate {
  /** The machine, such as "the panel of sub.example.com". */
  who: string;
  /** The header `Date` of its answer, and the time here when it came, UTC ms. */
  date: string;
  nowMs: number;
}

/** Compares the clock with those of other machines, and says whether the system keeps it right. */
export function checkTimeOfOthers(dates: readonly ShownDate[], root = ''): Finding[] {
  const say = about('clock');
  const todo =
    'set the clock of the machine that is wrong, and enable NTP (timedatectl set-ntp true)';
  const others = dates.flatMap(({ who, date, nowMs }) => {
    const offsetMs = nowMs - Date.parse(date);
    if (!(Math.abs(offsetMs) > OFFSET_MAX_MS)) return [];
    const what = `the clock is ${spanText(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead of' : 'behind'} that of ${who}`;
    return [say.warning(offsetMs > 0 ? 'clock_ahead' : 'clock_behind', what, todo, who)];
  });
  const state = `${root}/run/systemd/timesync`;
  if (others.length > 0 || !existsSync(state) || existsSync(`${state}/synchronized`)) return others;
  return [
    say.warning(
      'clock_not_synchronized',
      'systemd-timesyncd runs, and no time server has answered it: nothing keeps the clock right',
      "let this machine reach its time servers (UDP 123); 'timedatectl timesync-status' names them",
    ),
  ];
}

/** Says a span in its largest unit. */
function spanText(ms: number): string {
  const units = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ] as const;
  const [unitMs, unit] = units.find(([one]) => ms >= 2 * one) ?? ([60_000, 'minute'] as const);
  return counted(Math.round(ms / unitMs), unit);
}

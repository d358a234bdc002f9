/** Checks that backups are scheduled, succeed, and are on another disk than the database. */

import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Cron } from 'croner';
import { backupFolder, momentOf, SAME_TIME_MS, scheduledBackups } from '../backup/shelf.ts';
import { about, type Finding } from '../base/finding.ts';
import { HOUR_MS } from '../core/calendar.ts';
import type { Upkeep } from '../core/port/upkeep.ts';
import { failureOf, upkeepOf } from '../core/upkeep.ts';
import { isReadOnly } from '../disk/fault.ts';

interface BackupSettings {
  readonly dataDir: string;
  readonly backupAt: string;
  readonly backupDirectory: string;
  readonly backupAfter: readonly string[];
}

const say = about('backups');

interface BackupsReport {
  findings: Finding[];
  /** The time of the newest scheduled backup, UTC ms; null: there is none. */
  newestMs: number | null;
}

/** `upkeep`: the records of the database, which know more than the folder. */
export function checkBackups(
  settings: BackupSettings,
  upkeep: readonly Upkeep[],
  nowMs: number,
): BackupsReport {
  const folder = backupFolder(settings);
  const names = namesIn(folder);
  const newestMs = names?.[0] === undefined ? null : momentOf(names[0]);
  if (settings.backupAt === '') {
    const todo = 'set backup.at, such as "03:30", and backup.directory, preferably on another disk';
    return {
      findings: [say.warning('backups_not_scheduled', 'no backups are scheduled', todo)],
      newestMs,
    };
  }
  const last = lastRun(settings, { folder, upkeep, newestMs }, nowMs);
  return {
    findings: [last, ...missing(upkeep, folder, names), ...place(settings, folder)],
    newestMs,
  };
}

/** Lists the backups of a folder; null: this user may not. */
function namesIn(folder: string): string[] | null {
  try {
    return scheduledBackups(folder);
  } catch {
    return null;
  }
}

interface Seen {
  folder: string;
  upkeep: readonly Upkeep[];
  newestMs: number | null;
}

/** Returns how the last scheduled backup went, or that one is missing. */
function lastRun(
  { backupAt: pattern }: BackupSettings,
  { folder, upkeep, newestMs }: Seen,
  nowMs: number,
): Finding {
  const cron = new Cron(pattern, { timezone: 'UTC' });
  if (cron.nextRun(new Date(nowMs)) === null) {
    const what = `backup.at (${pattern}) never falls due`;
    return say.problem('backup_never_due', what, 'set a time such as "03:30"');
  }
  const row = upkeepOf(upkeep, 'backup');
  const goodMs = Math.max(newestMs ?? 0, row?.success?.atMs ?? 0);
  const good = goodMs === 0 ? 'none was ever made' : `the last good one is from ${iso(goodMs)}`;
  const failure = failureOf(row);
  if (row !== null && failure !== null && failure.atMs >= goodMs) {
    const times = row.failureCount > 1 ? ` (failure ${row.failureCount} in a row)` : '';
    const what = `the backup of ${iso(failure.atMs)} failed${times}: ${failure.reason}; ${good}`;
    return say.problem('backup_failed', what, remedyOf(failure.code, folder));
  }
  // A schedule that the server does not know yet says nothing about missed runs.
  const knownMs = row?.schedule === pattern ? row.scheduledAtMs : 0;
  const sinceMs = Math.max(goodMs + SAME_TIME_MS, knownMs);
  if (goodMs === 0 && knownMs === 0) {
    const todo = "start 'gatepost serve', or let it reload: it makes them";
    return say.warning('backup_never_made', `${folder} has no backup yet`, todo);
  }
  const due = cron.nextRun(new Date(sinceMs))?.getTime() ?? nowMs;
  const graceMs = Math.max(HOUR_MS, 2 * (row?.success?.tookMs ?? 0));
  if (due + graceMs < nowMs) {
    const todo =
      "see that 'gatepost serve' runs at that time, and look for backup_failed in its log";
    const what = `the backup of ${iso(due)} was not made; ${good}`;
    return say.problem('backup_overdue', what, todo);
  }
  return say.ok(goodMs === 0 ? `the first is due at ${iso(due)}` : good);
}

const iso = (atMs: number) => new Date(atMs).toISOString();

function remedyOf(code: string | null, folder: string): string {
  const after = "then make one: 'Make a backup now' of the console's Backups, or wait for the next";
  if (code === 'disk_full') return `free space or set backup.directory to another disk, ${after}`;
  if (code !== 'disk_read_only') {
    return `mend it (the user of the service must be able to write to ${folder}), ${after}`;
  }
  const dropIn = '/etc/systemd/system/gatepost.service.d';
  const line =
    `sudo mkdir -p ${dropIn} && printf '[Service]\\nReadWritePaths=-${folder}\\n' | ` +
    `sudo tee ${dropIn}/backups.conf && sudo systemctl daemon-reload && ` +
    'sudo systemctl restart gatepost';
  return isReadOnly(folder)
    ? `mount that disk for writing; or, if it is so for the service alone: ${line}`
    : `it is writable here, so the unit of the service forbids it: ${line}`;
}

/** Finds that the file of the last backup is gone. */
function missing(upkeep: readonly Upkeep[], folder: string, names: string[] | null): Finding[] {
  const last = upkeepOf(upkeep, 'backup')?.success;
  if (names === null || !last || dirname(last.result) !== folder || existsSync(last.result)) {
    return [];
  }
  const todo = 'see who deleted it, and make another; to copy backups elsewhere set backup.after';
  return [say.warning('backup_gone', `the last backup is gone: ${last.result}`, todo)];
}

function place({ backupAfter, dataDir }: BackupSettings, folder: string): Finding[] {
  // Those are copied elsewhere.
  if (backupAfter.length > 0) return [];
  if (!existsSync(folder) || !existsSync(dataDir)) return [];
  if (statSync(folder).dev !== statSync(dataDir).dev) return [];
  const todo = 'set backup.directory to another disk, or backup.after to copy them elsewhere';
  return [
    say.warning(
      'backups_on_same_disk',
      'the backups are on the disk of the database and would be lost with it',
      todo,
    ),
  ];
}

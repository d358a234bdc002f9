/** Checks that backups are scheduled, recent, and on another disk than the database. */

import { existsSync, statSync } from 'node:fs';
import { Cron } from 'croner';
import { backupFolder, momentOf, scheduledBackups } from '../backup/shelf.ts';
import { about, type Finding } from '../finding.ts';

interface BackupSettings {
  readonly dataDir: string;
  readonly backupAt: string;
  readonly backupDirectory: string;
}

const say = about('backups');
const HOUR_MS = 3_600_000;

interface BackupsReport {
  findings: Finding[];
  /** The time of the newest scheduled backup, UTC ms; null: there is none. */
  newestMs: number | null;
}

export function checkBackups(settings: BackupSettings, nowMs: number): BackupsReport {
  const folder = backupFolder(settings);
  const [newest] = scheduledBackups(folder);
  const newestMs = newest === undefined ? null : momentOf(newest);
  if (settings.backupAt === '') {
    const todo = 'set backup.at, such as "03:30", and backup.directory, preferably on another disk';
    return {
      findings: [say.warning('backups_not_scheduled', 'no backups are scheduled', todo)],
      newestMs,
    };
  }
  return {
    findings: [...age(settings.backupAt, newestMs, nowMs, folder), ...place(settings, folder)],
    newestMs,
  };
}

function age(pattern: string, newestMs: number | null, nowMs: number, folder: string): Finding[] {
  const todo = "check that 'gatepost serve' runs, and look for backup_failed in its log";
  const cron = new Cron(pattern, { timezone: 'UTC' });
  if (cron.nextRun(new Date(nowMs)) === null) {
    return [
      say.problem(
        'backup_never_due',
        `backup.at (${pattern}) never falls due`,
        'set a time such as "03:30"',
      ),
    ];
  }
  if (newestMs === null) {
    const wait =
      "wait for the first backup, or look for backup_failed in the log of 'gatepost serve'";
    return [say.warning('backup_never_made', `${folder} has no backup yet`, wait)];
  }
  // By the second scheduled time after it, at least one backup was missed.
  const [, second] = cron.nextRuns(2, new Date(newestMs));
  const shown = new Date(newestMs).toISOString();
  if (second !== undefined && second.getTime() + HOUR_MS < nowMs) {
    return [
      say.problem(
        'backup_overdue',
        `the last backup is from ${shown}, and several are missing since`,
        todo,
      ),
    ];
  }
  return [say.ok(`the last backup is from ${shown}`)];
}

function place({ dataDir }: BackupSettings, folder: string): Finding[] {
  if (!existsSync(folder) || !existsSync(dataDir)) return [];
  if (statSync(folder).dev !== statSync(dataDir).dev) return [];
  const todo = 'set backup.directory to another disk, or copy the files to another machine';
  return [
    say.warning(
      'backups_on_same_disk',
      'the backups are on the disk of the database and would be lost with it',
      todo,
    ),
  ];
}

/** The part of app.ts that starts upkeep: backups, their copies, the look for newer versions. */

import { runAfter } from '../backup/after.ts';
import { addScheduledBackup, backupByChild, newestScheduled } from '../backup/shelf.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings/index.ts';
import type { Core } from '../core/core.ts';
import { type BackupJob, startBackupJob } from '../jobs/backup.ts';
import { makeBackupCopies } from '../jobs/backup-copy.ts';
import { noticeUpkeep } from '../jobs/notice.ts';
import { makeReleaseCheck } from '../jobs/release.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { ownCommand } from './own-program.ts';
import { newestRelease } from './release.ts';

interface Parts {
  core: Core;
  /** Read at each use. */
  settings: Config;
  log: Log;
}

/** Starts backups by the clock, and what copies them elsewhere. */
export async function startBackups({ core, settings, log }: Parts): Promise<BackupJob> {
  const run = backupByChild(ownCommand());
  const common = {
    settings,
    store: core.store,
    clock: systemClock,
    log,
    onNoted: () => noticeUpkeep(core, systemClock.nowMs()),
  };
  const copies = makeBackupCopies({
    ...common,
    copy: (file, signal) => runAfter(settings, file, signal),
  });
  const job = await startBackupJob({
    ...common,
    newest: () => newestScheduled(settings),
    make: (nowMs, signal) => addScheduledBackup(settings, nowMs, run, signal),
    onMade: () => void copies.catchUp(),
  });
  return { ...job, stop: () => job.stop().then(copies.stop) };
}

/** Makes the check for a newer version, to be called once a minute. */
export const releaseCheck = (
  { core, settings, log, outgoing }: Parts & { outgoing: Pick<Outgoing, 'send'> },
  clock: Clock,
) =>
  makeReleaseCheck({
    settings,
    store: core.store,
    clock,
    log,
    random: Math.random,
    ask: (signal) => newestRelease(settings, outgoing, { signal }),
    onNoted: () => noticeUpkeep(core, clock.nowMs()),
  });

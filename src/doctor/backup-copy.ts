/** Checks that the command of `backup.after` copies backups elsewhere, and in which form. */

import { about, type Finding } from '../base/finding.ts';
import { MINUTE_MS } from '../core/calendar.ts';
import type { Upkeep } from '../core/port/upkeep.ts';
import { failureOf, upkeepOf } from '../core/upkeep.ts';

interface CopySettings {
  readonly backupAfter: readonly string[];
  readonly backupAfterClear: boolean;
  readonly backupPassphrase: string;
  readonly backupPassphraseFile: string;
}

const say = about('copies of backups');
/** The time after a backup by which its copy has ended: twice the limit of the command, ms. */
const PATIENCE_MS = 20 * MINUTE_MS;

export function checkCopies(
  settings: CopySettings,
  upkeep: readonly Upkeep[],
  nowMs: number,
): Finding[] {
  if (settings.backupAfter.length === 0) return [];
  return [...clear(settings), lastCopy(upkeep, nowMs)];
}

function clear(settings: CopySettings): Finding[] {
  const { backupAfterClear, backupPassphrase, backupPassphraseFile } = settings;
  if (!backupAfterClear || backupPassphrase !== '' || backupPassphraseFile !== '') return [];
  const what = 'backups leave this machine in clear, with all keys, secrets and customers';
  return [say.warning('copies_in_clear', what, 'set backup.passphrase_file')];
}

function lastCopy(upkeep: readonly Upkeep[], nowMs: number): Finding {
  const row = upkeepOf(upkeep, 'copy');
  const goodMs = row?.success?.atMs ?? 0;
  const good = goodMs === 0 ? 'none was ever made' : `the last good one is from ${iso(goodMs)}`;
  const failure = failureOf(row);
  if (row !== null && failure !== null) {
    const times = row.failureCount > 1 ? ` (failure ${row.failureCount} in a row)` : '';
    const what = `the copy of ${iso(failure.atMs)} failed${times}: ${failure.reason}; ${good}`;
    const todo =
      "see backup_copy_failed in the log ('journalctl -u gatepost'), mend it, and make a backup";
    return say.problem('copy_failed', what, todo);
  }
  const made = upkeep.find(({ task }) => task === 'backup')?.success;
  const madeMs = made ? made.atMs + (made.tookMs ?? 0) : nowMs;
  if (madeMs > goodMs && madeMs + PATIENCE_MS < nowMs) {
    const what = `the backup of ${iso(made?.atMs ?? 0)} was not copied; ${good}`;
    return say.problem('copy_missing', what, "see that 'gatepost serve' runs, and its log");
  }
  return say.ok(goodMs === 0 ? 'the next backup is copied' : good);
}

const iso = (atMs: number) => new Date(atMs).toISOString();

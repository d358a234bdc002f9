/** Hands a backup to the command of `backup.after`, which copies it elsewhere. */

import { messageOf, OperatorError } from '../base/operator-error.ts';
import { runProgram } from '../base/operator-program.ts';
import { kindOf } from './container.ts';

interface AfterSettings {
  /** The command and its first arguments; empty: there is none. */
  readonly backupAfter: readonly string[];
  /** Whether it also gets backups that are not encrypted. */
  readonly backupAfterClear: boolean;
}

/** The time limit of the command, ms. */
const TIME_MAX_MS = 600_000;

interface AfterEnd {
  /** The failure in words of our own, which chats and pages show; null: it succeeded. */
  reason: string | null;
  /** The beginning of what it wrote to stderr, for the log alone: it may have secrets. */
  errors: string;
}

/** Runs the command with `--` and the file. Never throws. */
export async function runAfter(
  { backupAfter, backupAfterClear }: AfterSettings,
  file: string,
  signal: AbortSignal,
  timeMaxMs = TIME_MAX_MS,
): Promise<AfterEnd> {
  try {
    // Backups from before a passphrase was set are in clear.
    if (!backupAfterClear && (await kindOf(file)) !== 'encrypted') {
      return { reason: 'the backup is not encrypted: backup.after was not run', errors: '' };
    }
    const bounds = { timeMaxMs, mayLeaveRest: false };
    const ended = await runProgram([...backupAfter, '--', file], signal, bounds);
    return { reason: reasonOf(ended), errors: ended.errors };
  } catch (fault) {
    const isOfFile = fault instanceof OperatorError;
    const what = isOfFile ? 'the backup cannot be read' : 'its program cannot be started';
    return { reason: `the command of backup.after was not run: ${what}`, errors: messageOf(fault) };
  }
}

type Ended = Awaited<ReturnType<typeof runProgram>>;

function reasonOf({ exitCode, signalCode, isLate }: Ended): string | null {
  if (isLate) return 'the command of backup.after did not end within its time of ten minutes';
  if (exitCode === null) return `the command of backup.after was ended by ${signalCode}`;
  return exitCode === 0 ? null : `the command of backup.after exited with ${exitCode}`;
}

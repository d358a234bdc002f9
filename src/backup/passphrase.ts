/** The source of the passphrase of backups: never a command line, which others can read. */

import { OperatorError } from '../operator-error.ts';
import { readSecretFile } from '../permissions.ts';

export interface PassphraseSettings {
  readonly backupPassphrase: string;
  readonly backupPassphraseFile: string;
}

/** Stands for the standard input in place of a file's name. */
export const STANDARD_INPUT = '-';

/**
 * Reads the passphrase in `file` if one is named, else that of the settings; null: there is none.
 * Throws `OperatorError` when a file cannot be read, is empty, or others may read it.
 */
export function readPassphrase(
  file: string | undefined,
  settings: PassphraseSettings,
): string | null {
  const named = file || settings.backupPassphraseFile;
  if (named) return firstLine(named);
  return settings.backupPassphrase === '' ? null : settings.backupPassphrase;
}

function firstLine(file: string): string {
  const read = readSecretFile(file);
  if ('problem' in read) throw new OperatorError(read.problem);
  const [line = ''] = read.text.split(/\r?\n/);
  if (line === '')
    throw new OperatorError(`the first line of ${file} is no passphrase: it is empty`);
  return line;
}

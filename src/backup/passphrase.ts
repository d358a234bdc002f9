/** The passphrase of backups: never from the command line, which other users can read. */

import { firstLineOfSecret } from '../permissions.ts';

export interface PassphraseSettings {
  readonly backupPassphrase: string;
  readonly backupPassphraseFile: string;
}

/** The name of a file that stands for standard input. */
export const STANDARD_INPUT = '-';

/**
 * Reads the passphrase from `file`, else from the settings; null: none. Throws `OperatorError` if a
 * file cannot be read, is empty, or other users may read it.
 */
export function readPassphrase(
  file: string | undefined,
  settings: PassphraseSettings,
): string | null {
  const named = file || settings.backupPassphraseFile;
  if (named) return firstLineOfSecret(named);
  return settings.backupPassphrase === '' ? null : settings.backupPassphrase;
}

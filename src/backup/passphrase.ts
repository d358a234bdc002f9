/** The passphrase of backups. No argument holds it: other users can read command lines. */

import { firstLineOfSecret } from '../base/permissions.ts';

export interface PassphraseSettings {
  readonly backupPassphrase: string;
  readonly backupPassphraseFile: string;
}

/** The name of a file that stands for standard input. */
export const STANDARD_INPUT = '-';

/**
 * Reads the passphrase from `file`, else from the settings. Returns null without one. Throws
 * `OperatorError` if a file cannot be read, is empty, or other users may read it.
 */
export function readPassphrase(
  file: string | undefined,
  settings: PassphraseSettings,
): string | null {
  const named = file || settings.backupPassphraseFile;
  if (named) return firstLineOfSecret(named);
  return settings.backupPassphrase === '' ? null : settings.backupPassphrase;
}

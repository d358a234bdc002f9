/** Where the passphrase of backups comes from. Never from a command line, which others can read. */

import { readFileSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';
import { checkSecretFile } from '../permissions.ts';

export interface PassphraseSettings {
  readonly backupPassphrase: string;
  readonly backupPassphraseFile: string;
}

/** In place of a file's name: the standard input. */
export const STANDARD_INPUT = '-';

/**
 * The passphrase in `file` if one is named, else the one of the settings; null: none. Throws
 * `OperatorError` when a file cannot be read, is empty, or others may read it.
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
  let text: string;
  try {
    const [open] = file === STANDARD_INPUT ? [] : checkSecretFile(file);
    if (open?.isRefused) throw new OperatorError(open.problem);
    text = readFileSync(file === STANDARD_INPUT ? 0 : file, 'utf8');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`cannot read the passphrase from ${file}: ${detail}`);
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line === '')
    throw new OperatorError(`the first line of ${file} is no passphrase: it is empty`);
  return line;
}

/** Formats of inputs in the console: see ../formats.ts. */

import { readOneLine } from '../formats.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';

const ACCOUNT_NAME_RULE = '2 to 64 letters a to z, digits and . _ @ + -';
const PASSWORD_LENGTH_MIN = 10;
const PASSWORD_LENGTH_MAX = 200;
const LABEL_LENGTH_MAX = 64;
const PASSPHRASE_LENGTH_MIN = 12;

/**
 * Reads the name of an account, in any case. Accounts store it in lower case. Returns a misfit for
 * another form.
 */
export function readAccountName(value: unknown): string | Misfit {
  const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const fits = /^[a-z0-9][a-z0-9._@+-]{1,63}$/.test(name);
  return fits ? name : malformed(`name must be ${ACCOUNT_NAME_RULE}`);
}

/** Reads a new password; its length in characters is the only rule. Returns a misfit. */
export function readNewPassword(value: unknown): string | Misfit {
  const length = typeof value === 'string' ? [...value].length : 0;
  const fits = length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX;
  if (typeof value === 'string' && fits) return value;
  return malformed(
    `password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
  );
}

/**
 * Reads the passphrase of a database copy: one line, because `gatepost restore` reads one. Returns
 * a misfit.
 */
export function readBackupPassphrase(value: unknown): string | Misfit {
  const line = readOneLine(value);
  const length = isRefused(line) ? 0 : [...line].length;
  if (!isRefused(line) && length >= PASSPHRASE_LENGTH_MIN && line.trim() === line) return line;
  return malformed(`passphrase must be one line of at least ${PASSPHRASE_LENGTH_MIN} characters`);
}

/** Reads the name of a passkey or a key. Returns a misfit. */
export function readLabel(value: unknown): string | Misfit {
  const label = readOneLine(typeof value === 'string' ? value.trim() : value);
  const length = isRefused(label) ? 0 : [...label].length;
  if (!isRefused(label) && length > 0 && length <= LABEL_LENGTH_MAX) return label;
  return malformed(`name must be one line of 1 to ${LABEL_LENGTH_MAX} characters`);
}

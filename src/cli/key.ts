/** Keys of providers: reading a given one, printing a new one. */

import { OperatorError, UsageError } from '../base/operator-error.ts';
import { secretIn } from '../base/permissions.ts';
import { AUTH_KEY } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { Credentials } from '../core/provider.ts';
import { type CliContext, type CommonOptions, print } from './context.ts';
import { sheet } from './table.ts';
import { fileValue } from './values.ts';

export interface KeyOptions {
  key?: string;
  keyFile?: string;
}

export const KEY_FILE = [
  '--key-file <file>',
  'read the key from a file, - for stdin: process lists do not show it',
  fileValue,
] as const;

/** Returns the key of the options; undefined without one. */
export function readKey(context: CliContext, { key, keyFile }: KeyOptions): string | undefined {
  if (key !== undefined && keyFile !== undefined) {
    throw new UsageError('give either --key or --key-file');
  }
  if (key !== undefined) {
    context.stderr(
      'gatepost: a key after --key is visible in the process list and the shell history: --key-file is safer\n',
    );
  }
  if (keyFile === undefined) return key;
  const text = secretIn(keyFile).trim();
  if (isRefused(AUTH_KEY.read(text))) {
    throw new OperatorError(`${keyFile} has no valid key: ${AUTH_KEY.rule}`);
  }
  return text;
}

/** Prints a new key, once, with `more` lines as text. */
export function printCredentials(
  context: CliContext,
  options: CommonOptions,
  { code, authKey }: Credentials,
  ...more: readonly string[]
): void {
  const json = { provider_code: code, auth_key: authKey };
  const note = 'The key is shown only once: only its SHA-256 is stored.';
  print(context, options, json, [sheet(json), note, ...more].join('\n'));
}

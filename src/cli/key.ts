/** Keys: where one comes from that was chosen or is used elsewhere, and how a new one is shown. */

import { AUTH_KEY } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { Credentials } from '../core/provider.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { readSecretFile } from '../permissions.ts';
import { type CliContext, type CommonOptions, print } from './context.ts';
import { sheet } from './table.ts';
import { fileValue } from './values.ts';

export interface KeyOptions {
  key?: string;
  keyFile?: string;
}

export const KEY_FILE = [
  '--key-file <file>',
  'the key from a file, - for stdin: not seen in process lists',
  fileValue,
] as const;

/** The key of the options; undefined without one. */
export function readKey(context: CliContext, { key, keyFile }: KeyOptions): string | undefined {
  if (key !== undefined && keyFile !== undefined) {
    throw new UsageError('give --key or --key-file, one of them');
  }
  if (key !== undefined) {
    context.stderr(
      'gatepost: a key after --key is seen in the list of processes and in the shell’s history: --key-file is safer\n',
    );
  }
  if (keyFile === undefined) return key;
  const read = readSecretFile(keyFile);
  if ('problem' in read) throw new OperatorError(read.problem);
  const text = read.text.trim();
  if (isRefused(AUTH_KEY.read(text))) {
    throw new OperatorError(`${keyFile} does not hold a key: ${AUTH_KEY.rule}`);
  }
  return text;
}

/** Prints a new key, for the only time, with `more` lines for people. */
export function printCredentials(
  context: CliContext,
  options: CommonOptions,
  { code, authKey }: Credentials,
  ...more: readonly string[]
): void {
  const json = { provider_code: code, auth_key: authKey };
  const note = 'The key is shown this once: only its SHA-256 is stored.';
  print(context, options, json, [sheet(json), note, ...more].join('\n'));
}

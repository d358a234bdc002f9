/** Where a key comes from that the operator chose, or that the provider has elsewhere. */

import { AUTH_KEY } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { readSecretFile } from '../permissions.ts';
import type { CliContext } from './context.ts';

export interface KeyOptions {
  key?: string;
  keyFile?: string;
}

export const KEY_FILE_FLAG = '--key-file <file>';
export const KEY_FILE_ABOUT = 'the key from a file, - for stdin: not seen in process lists';

/** The key that was given, from wherever; undefined: none was. */
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

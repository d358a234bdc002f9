/** Names of finished files: a file has its name only once it is whole. */

import { existsSync, linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { syncFolder } from './scratch.ts';

export function nameTaken(file: string): OperatorError {
  return new OperatorError(`${file} exists: choose another name, or --force`, 'file_exists');
}

/** Gives a file its name, which must be free unless `replaces`. Throws {@link nameTaken}. */
export function giveName(packed: string, file: string, replaces: boolean): void {
  try {
    if (replaces) renameSync(packed, file);
    else linkSync(packed, file);
  } catch (error) {
    throw !replaces && existsSync(file) ? nameTaken(file) : error;
  }
  syncFolder(dirname(file));
}

/** Reads the migrations of a store in order when the program is built or loaded: a macro of Bun. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the texts of the files `0000_NAME.sql`, … of a folder beside this file. */
export const textsIn = (folder: 'postgres' | 'sqlite'): string[] => {
  const path = join(import.meta.dir, folder);
  return readdirSync(path)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(join(path, name), 'utf8'));
};

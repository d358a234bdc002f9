/** The target of an export: a new file, or standard output. */

import { open, rm } from 'node:fs/promises';
import { OperatorError } from '../base/operator-error.ts';
import type { CliContext } from './context.ts';

/**
 * Settles when the text is written, with false if the reader has closed: then the rest is omitted.
 */
export type Write = (text: string) => Promise<boolean>;

/**
 * Runs `use` with a writer to a new file (mode 0600), or to standard output without a path. Removes
 * the file after a fault. Throws {@link OperatorError} if the file exists or cannot be written.
 */
export async function writeTo<T>(
  context: CliContext,
  path: string | undefined,
  use: (write: Write) => Promise<T>,
): Promise<T> {
  if (path === undefined) {
    // To another program the bytes go as they are; on a terminal JSON stays JSON of the same value.
    const { columns, stdout, terminal } = context;
    return use(columns === null ? terminal.stdout : stdout);
  }
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => refuse(path, error));
  try {
    const result = await use(async (text) => {
      await file.writeFile(text).catch((error: unknown) => refuse(path, error));
      return true;
    });
    await file.sync().catch((error: unknown) => refuse(path, error));
    await file.close();
    return result;
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

function refuse(path: string, error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') throw new OperatorError(`${path} exists: name another`, 'file_exists');
  throw new OperatorError(`cannot write ${path}: ${message}`);
}

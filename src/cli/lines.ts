import { statSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';

/**
 * Yields the lines of a UTF-8 file, none longer than `lengthMax` UTF-16 units, without loading the
 * file into memory. Throws {@link OperatorError}, also for a pipe, as the file is read twice.
 */
export async function* linesOf(path: string, lengthMax: number): AsyncGenerator<string> {
  refuseOthers(path);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let number = 0;
  try {
    for await (const chunk of Bun.file(path).stream()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        number += 1;
        yield line;
      }
      if (rest.length > lengthMax) {
        throw new OperatorError(`${path}: line ${number + 1} is too long`);
      }
    }
    rest += decoder.decode();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (error instanceof TypeError) {
      throw new OperatorError(`${path}: invalid UTF-8 in or after line ${number + 1}`);
    }
    throw unreadable(path, error);
  }
  if (rest !== '') yield rest;
}

function refuseOthers(path: string): void {
  let isFile: boolean;
  try {
    isFile = path !== '-' && statSync(path).isFile();
  } catch (error) {
    throw unreadable(path, error);
  }
  if (!isFile) {
    throw new OperatorError(`${path} must be a regular file, because it is read twice`);
  }
}

function unreadable(path: string, error: unknown): OperatorError {
  return new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
}

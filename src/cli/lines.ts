import { OperatorError } from '../operator-error.ts';

/** A link with 100 HWIDs of which everything is known takes some 100 KB. */
const LINE_LENGTH_MAX = 1024 ** 2;

/** The lines of a UTF-8 file one after the other, without holding the file in memory. */
export async function* linesOf(path: string): AsyncGenerator<string> {
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
      if (rest.length > LINE_LENGTH_MAX) {
        throw new OperatorError(`${path}: line ${number + 1} has no end`);
      }
    }
    rest += decoder.decode();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (error instanceof TypeError) {
      throw new OperatorError(`${path}: not UTF-8, in line ${number + 1} or soon after`);
    }
    throw new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
  }
  if (rest !== '') yield rest;
}

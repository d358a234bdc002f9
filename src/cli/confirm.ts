/** Asking before something is lost for good. */

import { createInterface } from 'node:readline';
import { OperatorError, UsageError } from '../operator-error.ts';
import type { CliContext } from './context.ts';

/**
 * Returns when the operator wants `deed` to be done, which names what is lost and how much of it:
 * `--yes` was given, or a terminal answered so. Throws {@link UsageError} if nobody can be asked.
 */
export async function confirm(
  context: CliContext,
  { yes }: { yes?: boolean },
  deed: string,
): Promise<void> {
  if (yes) return;
  if (!context.isTerminal) {
    throw new UsageError(`${deed}: this cannot be undone, so without a terminal it needs --yes`);
  }
  const answer = await context.ask(`${deed}? [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new OperatorError('nothing was changed');
}

/** One line from the terminal; null: interrupted, or the input has ended. */
export function askTerminal(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    // Ctrl-C and Ctrl-D close it without an answer.
    terminal.once('close', () => resolve(null));
    terminal.question(question, (answer) => {
      resolve(answer);
      terminal.close();
    });
  });
}

/** `1 link`, `2 links`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

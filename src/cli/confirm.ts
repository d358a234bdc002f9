/** Questions before data is lost. */

import { createInterface } from 'node:readline';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import type { CliContext, CommonOptions } from './context.ts';

/** Options of a command that asks for confirmation. */
export interface ConfirmOptions extends CommonOptions {
  yes?: boolean;
}

/**
 * Returns when the operator agrees to `deed`, by `--yes` or by an answer on the terminal. `deed`
 * names the loss and its size. Throws {@link UsageError} without a terminal.
 */
export async function confirm(
  context: CliContext,
  { yes }: ConfirmOptions,
  deed: string,
): Promise<void> {
  if (yes) return;
  if (!context.isTerminal) {
    throw new UsageError(
      `${visible(deed)}: this cannot be undone: give --yes if there is no terminal`,
    );
  }
  const answer = await context.ask(`${visible(deed)}? [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new OperatorError('nothing was changed');
}

/** Reads a line from the terminal; null: interrupted, or the input has ended. */
export function askTerminal(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    let typed: string | null = null;
    terminal.once('close', () => {
      // Ctrl-C and Ctrl-D leave the cursor after the question.
      if (typed === null) process.stderr.write('\n');
      resolve(typed);
    });
    terminal.question(question, (answer) => {
      typed = answer;
      terminal.close();
    });
  });
}

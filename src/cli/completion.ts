/** `gatepost completion …`: prints the script with which a shell completes this command line. */

import { Argument, type Command } from 'commander';
import { type CommandFacts, commandTree } from './command-tree.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { zshCompletion } from './completion-zsh.ts';
import type { CliContext } from './context.ts';

const SCRIPTS: Readonly<Record<string, (tree: readonly CommandFacts[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The shells that have a script. */
export const SHELLS = Object.keys(SCRIPTS);

/** The script for one of {@link SHELLS}, from the commands and options as they are. */
export function completionScript(shell: string, program: Command): string {
  const script = SCRIPTS[shell];
  if (script === undefined) throw new RangeError(`no completion for ${shell}`);
  return script(commandTree(program));
}

export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('print the script with which a shell completes gatepost commands')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(async (shell: string) => {
      await context.stdout(completionScript(shell, program));
    });
}

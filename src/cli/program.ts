/** The command line: which commands there are, and what a mistake looks like. */

import { Command, CommanderError } from 'commander';
import { innermostReason } from '../core/outcome.ts';
import { WriteFailed } from '../core/port/store.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { COMMIT, VERSION } from '../version.ts';
import { addAuditCommands } from './audit.ts';
import { addBackupCommands } from './backup.ts';
import { addCompletionCommand } from './completion.ts';
import { addConfigCommand } from './config.ts';
import { type CliContext, type CommonOptions, print } from './context.ts';
import { addDeviceCommands } from './device.ts';
import { addDistributionCommands } from './distribution.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExportCommand } from './export.ts';
import { addImportCommands } from './import.ts';
import { addOpenApiCommand } from './openapi.ts';
import { addProviderCommands } from './provider.ts';
import { addReadyCommand } from './ready.ts';
import { addServeCommand } from './serve.ts';

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;

const HELP_HINT = "(see 'gatepost help', or --help after a command)";

/** Every command with its options; what is generated from them takes up new ones by itself. */
export function buildProgram(context: CliContext): Command {
  const program = new Command('gatepost')
    .description(
      'Limited install links, subscription domains and messages to devices, self-hosted.',
    )
    .version(VERSION, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: context.stdout,
      writeErr: context.stderr,
      outputError: (text, write) => write(`gatepost: ${plainMistake(text)}`),
    })
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError(HELP_HINT)
    .helpCommand('help [command]', 'help for a command');

  addServeCommand(program, context);
  addProviderCommands(program, context);
  addDeviceCommands(program, context);
  addDistributionCommands(program, context);
  addReadyCommand(program, context);
  addCompletionCommand(program, context);
  addAuditCommands(program, context);
  addBackupCommands(program, context);
  addDoctorCommand(program, context);
  addImportCommands(program, context);
  addExportCommand(program, context);
  addConfigCommand(program, context);
  addOpenApiCommand(program, context);
  program
    .command('version')
    .description('print version and commit')
    .action((options: CommonOptions) => {
      const facts = {
        version: VERSION,
        commit: COMMIT,
        bun: Bun.version,
        platform: `${process.platform}-${process.arch}`,
      };
      const text = `gatepost ${VERSION} (commit ${COMMIT}, bun ${facts.bun}, ${facts.platform})`;
      print(context, options, facts, text);
    });

  for (const command of leaves(program)) {
    command
      .copyInheritedSettings(command.parent ?? program)
      .option('--data <directory>', 'data directory (GATEPOST_DATA, default ./data)')
      .option('--config <file>', 'TOML file with settings (GATEPOST_CONFIG; none: no file)')
      .option('--json', 'print JSON for machines');
  }
  return program;
}

/** commander's sentence, without what our own sentences already say. */
function plainMistake(text: string): string {
  return text
    .replace(/^error: /, '')
    .replace(/^(option|command-argument) .* is invalid( for argument '[^']*')?\. /s, '');
}

/** The commands that do something, as opposed to groups of commands. */
function leaves(command: Command): Command[] {
  if (command.commands.length === 0) return [command];
  return command.commands.flatMap(leaves);
}

/** Runs one command line. Returns the exit code; whatever went wrong has been said on stderr. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    await buildProgram(context).parseAsync([...argv], { from: 'user' });
    return EXIT_OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    if (error instanceof UsageError) {
      context.stderr(`gatepost: ${error.message}\n${HELP_HINT}\n`);
      return EXIT_USAGE;
    }
    context.stderr(`gatepost: ${sentenceOf(error)}\n`);
    return EXIT_ERROR;
  }
}

/** A mistake of ours is the only thing that is told with its stack. */
function sentenceOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (error instanceof WriteFailed) return `it could not be saved: ${innermostReason(error)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The command line: its commands, and their exit codes. */

import { Command, CommanderError, Help, type Option } from 'commander';
import type { ErrorCode } from '../base/operator-error.ts';
import { COMMIT, VERSION } from '../base/version.ts';
import { visibleLines } from '../base/visible.ts';
import type { Flags } from '../config/files.ts';
import type { Handover } from '../handover/handover.ts';
import { addAccountCommands } from './account.ts';
import { addAuditCommands } from './audit.ts';
import { addBackupCommands } from './backup.ts';
import { addBotCommands } from './bot.ts';
import { addClockCommands } from './clock.ts';
import { addConfigCommand } from './config.ts';
import { addConformanceCommand } from './conformance.ts';
import { type CliContext, type CommonOptions, print } from './context.ts';
import { addCutCommands } from './cuts.ts';
import { addDemoCommand } from './demo.ts';
import { addDeviceCommands, addForgetCommand } from './device.ts';
import { addDistributionCommands } from './distribution.ts';
import { addDoctorCommand } from './doctor.ts';
import { addDomainCommands } from './domain.ts';
import { addExplainCommand } from './explain.ts';
import { addExportCommand } from './export.ts';
import { addFollowCommands } from './follow.ts';
import { addGatewayCommands } from './gateway.ts';
import { addImportCommands } from './import.ts';
import { addLinkCommands } from './link.ts';
import { addMoveCommand } from './move-database.ts';
import { addNodeCommands } from './node.ts';
import { addOpenApiCommand } from './openapi.ts';
import { addProviderCommands } from './provider.ts';
import { addReadyCommand } from './ready.ts';
import { failureOf, failureText } from './refusal.ts';
import { addReminderCommands } from './reminder.ts';
import { addSendCommands } from './send.ts';
import { addServeCommand } from './serve.ts';
import { addStatsCommand } from './stats.ts';
import { addUpdateCommand } from './update.ts';
import { addWebhookCommands } from './webhook.ts';

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
const EXIT_USAGE = 2;
/** An import that had to omit users; warnings of `doctor --strict`. */
const EXIT_PARTIAL = 3;
const PARTIAL: readonly ErrorCode[] = ['users_not_served', 'warnings_found'];

/** Returns the help of an option; commander's does not say that it is required. */
function optionDescription(this: Help, option: Option): string {
  const about = Help.prototype.optionDescription.call(this, option);
  return option.mandatory ? `${about} (required)` : about;
}

/** Builds every command with its options; the manual page is generated from them. */
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
      // runCli prints it, as text or JSON.
      outputError: () => {},
    })
    .configureHelp({ showGlobalOptions: false, optionDescription })
    .helpCommand('help [command]', 'help for a command');

  addServeCommand(program, context);
  addDemoCommand(program, context);
  addProviderCommands(program, context);
  addDomainCommands(program, context);
  addBotCommands(program, context);
  addLinkCommands(program, context);
  addCutCommands(program, context);
  addDeviceCommands(program, context);
  addForgetCommand(program, context);
  addSendCommands(program, context);
  addDistributionCommands(program, context);
  addReminderCommands(program, context);
  addGatewayCommands(program, context);
  addWebhookCommands(program, context);
  addAccountCommands(program, context);
  addNodeCommands(program, context);
  addClockCommands(program, context);
  addFollowCommands(program, context);
  addStatsCommand(program, context);
  addReadyCommand(program, context);
  addAuditCommands(program, context);
  addBackupCommands(program, context);
  addMoveCommand(program, context);
  addDoctorCommand(program, context);
  addExplainCommand(program, context);
  addImportCommands(program, context);
  addExportCommand(program, context);
  addConfigCommand(program, context);
  addOpenApiCommand(program, context);
  addConformanceCommand(program, context);
  addUpdateCommand(program, context);
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
      .option(
        '--data <directory>',
        'data directory (GATEPOST_DATA; else that of the package, or ./data)',
      )
      .option('--config <file>', 'TOML file with settings (GATEPOST_CONFIG; none: no file)')
      .option('--json', 'print JSON for machines');
  }
  return program;
}

/** Returns the commands that are not groups. */
function leaves(command: Command): Command[] {
  if (command.commands.length === 0) return [command];
  return command.commands.flatMap(leaves);
}

/** Returns whether a command line asks for JSON; it may be invalid. */
export function wantsJson(argv: readonly string[]): boolean {
  return argv.includes('--json');
}

/**
 * Runs a command line. Returns the exit code; prints a failure on stderr. All output is escaped: a
 * name in a file or of a device controls no terminal.
 */
export async function runCli(
  argv: readonly string[],
  outer: Omit<CliContext, 'terminal' | 'warn'>,
): Promise<number> {
  const warnings = new Set<string>();
  let dataDir: string | null = null;
  const noting = (load: CliContext['loadConfig']) => (flags: Flags) => {
    const loaded = load(flags);
    ({ dataDir } = loaded.config);
    return loaded;
  };
  let handover: Handover | null = null;
  /** Output until the files that it names are in their places. */
  let held = '';
  const shown = (text: string) => visibleLines(handover?.named(text) ?? text);
  const context: CliContext = {
    ...outer,
    loadConfig: noting(outer.loadConfig),
    loadServerConfig: noting(outer.loadServerConfig),
    terminal: outer,
    stdout: async (text) => {
      if (!handover?.delivers) return outer.stdout(shown(text));
      held += shown(text);
      return true;
    },
    stderr: (text, level) => outer.stderr(shown(text), level),
    warn: (text) => {
      if (!warnings.has(text)) context.stderr(`warning: ${text}\n`, 'warn');
      warnings.add(text);
    },
  };
  try {
    const program = buildProgram(context).hook('preAction', async (_, command) => {
      handover = await outer.asOwner(command, wantsJson(argv));
    });
    await program.parseAsync([...argv], { from: 'user' });
    await (handover as Handover | null)?.deliver();
    if (held !== '') outer.stdout(held);
    return EXIT_OK;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT_OK;
    const failure = failureOf(error, dataDir);
    // A group without a command prints its help.
    const isHelp = error instanceof CommanderError && error.code === 'commander.help';
    if (!isHelp) context.stderr(failureText(failure, wantsJson(argv)), 'error');
    if (failure.code === 'usage') return EXIT_USAGE;
    return PARTIAL.includes(failure.code) ? EXIT_PARTIAL : EXIT_ERROR;
  } finally {
    (handover as Handover | null)?.drop();
  }
}

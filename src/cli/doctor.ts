/** `gatepost doctor`: problems of this installation and their remedies. */

import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { unseenFileText, unseenText } from '../config/unseen.ts';
import { counted } from '../core/counted.ts';
import { about, type Finding } from '../finding.ts';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, flagsOf } from './context.ts';
import { failureOf } from './refusal.ts';
import { outsideValue } from './values.ts';

interface DoctorOptions extends CommonOptions {
  outside?: URL[];
}

async function doctor(context: CliContext, options: DoctorOptions): Promise<void> {
  const findings: Finding[] = [];
  const loaded = load(context, options, findings);
  if (loaded !== null) {
    findings.push(...unseenIn(loaded), ...(await examined(context, loaded, options)));
  }
  if (options.json) context.stdout(`${JSON.stringify({ findings })}\n`);
  else context.stdout(`${findings.map(asText).join('\n')}\n`);
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new OperatorError(counted(problems, 'problem'));
}

/** Loads the configuration. Errors become a finding, and the checks continue without the file. */
function load(
  context: CliContext,
  options: CommonOptions,
  findings: Finding[],
): LoadedConfig | null {
  try {
    return context.loadConfig(flagsOf(options));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const todo = "fix it; 'gatepost config --example' prints every setting";
    findings.push(about('configuration').problem('configuration_invalid', error.message, todo));
  }
  try {
    return context.loadConfig({ ...flagsOf(options), configFile: 'none' });
  } catch {
    // The errors are in the environment: the finding above names them.
    return null;
  }
}

/** Runs the checks. A fault of the program in one of them becomes a finding too. */
async function examined(
  context: CliContext,
  loaded: LoadedConfig,
  { outside }: DoctorOptions,
): Promise<Finding[]> {
  try {
    return await context.examine(loaded, outside);
  } catch (error) {
    const { message } = failureOf(error, loaded.config.dataDir);
    const todo = 'run the doctor as root; if it ends so again, report it as a fault';
    return [about('doctor').problem('doctor_failed', message, todo)];
  }
}

/** Warns of settings of the running server that the checks cannot use. */
function unseenIn({ unseen, unseenFile }: LoadedConfig): Finding[] {
  const { warning } = about('configuration');
  const checked = 'what follows is checked without them';
  return [
    ...(unseenFile === null
      ? []
      : [
          warning(
            'configuration_unreadable_here',
            `${unseenFileText(unseenFile)}: ${checked}`,
            'run the doctor as the user of the service',
          ),
        ]),
    ...(unseen.length === 0
      ? []
      : [
          warning(
            'environment_of_server_unseen',
            `${unseenText(unseen)}: ${checked}`,
            'set them here too, or put these settings in the file',
          ),
        ]),
  ];
}

const MARKS = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const;

function asText({ check, level, what, todo }: Finding): string {
  const hint = todo === null ? '' : `\n          ${todo}`;
  return `${MARKS[level]}  ${check}: ${what}${hint}`;
}

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check this installation and name remedies; exit code 1 for a problem')
    .option(
      '--outside <hosts...>',
      'ask these hosts too whether they answer as a panel does',
      outsideValue,
    )
    .action((options: DoctorOptions) => doctor(context, options));
}

/** `gatepost doctor`: problems of this installation and their remedies. */

import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { unseenFileText, unseenText } from '../config/unseen.ts';
import { counted } from '../core/counted.ts';
import type { OutsideQuestions } from '../doctor/examine.ts';
import { about, type Finding } from '../finding.ts';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, flagsOf } from './context.ts';
import { failureOf } from './refusal.ts';
import { outsideValue } from './values.ts';

interface DoctorOptions extends CommonOptions {
  /** True: without hosts. */
  outside?: URL[] | true;
}

async function doctor(context: CliContext, options: DoctorOptions): Promise<void> {
  const loaded = load(context, options);
  const findings =
    'level' in loaded
      ? [loaded]
      : [...unseenIn(loaded), ...(await examined(context, loaded, options))];
  if (options.json) context.stdout(`${JSON.stringify({ findings })}\n`);
  else context.stdout(`${findings.map(asText).join('\n')}\n`);
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new OperatorError(counted(problems, 'problem'));
}

/** A person at a terminal asks at will; a timer asks the public address once an hour. */
function outsideOf(
  { isTerminal }: CliContext,
  { outside }: DoctorOptions,
): OutsideQuestions | undefined {
  if (outside === undefined) return undefined;
  return { places: outside === true ? [] : outside, isHourly: !isTerminal };
}

const say = about('configuration');

/**
 * Loads the configuration. Returns the only finding if it cannot be read, or the database of the
 * running server is unknown: checks of the defaults would be about another installation.
 */
function load(context: CliContext, options: CommonOptions): LoadedConfig | Finding {
  const todo = "fix it; 'gatepost config --example' prints every setting";
  const stop = 'run the doctor as the user of the service';
  try {
    const loaded = context.loadConfig(flagsOf(options));
    const { unseen, unseenFile } = loaded;
    if (unseenFile !== null) {
      return say.problem('configuration_unreadable_here', unseenFileText(unseenFile), stop);
    }
    const database = unseen.find(({ name }) => name === 'databaseUrl');
    if (database === undefined) return loaded;
    return say.problem('database_of_server_unseen', unseenText([database]), SET_HERE);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return say.problem('configuration_invalid', error.message, todo);
  }
}

/** Runs the checks. A fault of the program in one of them becomes a finding too. */
async function examined(
  context: CliContext,
  loaded: LoadedConfig,
  options: DoctorOptions,
): Promise<Finding[]> {
  try {
    return await context.examine(loaded, outsideOf(context, options));
  } catch (error) {
    const { message } = failureOf(error, loaded.config.dataDir);
    const todo = 'run the doctor as root; if it ends so again, report it as a fault';
    return [about('doctor').problem('doctor_failed', message, todo)];
  }
}

const SET_HERE = 'set them here too, or put these settings in the file';

/** Warns of settings of the running server that the checks cannot use. */
function unseenIn({ unseen }: LoadedConfig): Finding[] {
  if (unseen.length === 0) return [];
  const what = `${unseenText(unseen)}: what follows is checked without them`;
  return [say.warning('environment_of_server_unseen', what, SET_HERE)];
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
      '--outside [hosts...]',
      'ask the public address too, and these hosts whether they answer as a panel does',
      outsideValue,
    )
    .action((options: DoctorOptions) => doctor(context, options));
}

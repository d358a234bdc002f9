/** `gatepost doctor`: problems of this installation and their remedies. */

import type { Command } from 'commander';
import { about, type Finding } from '../base/finding.ts';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import type { HiddenNames } from '../config/hidden-names.ts';
import type { LoadedConfig } from '../config/load.ts';
import { unseenFileText, unseenText } from '../config/unseen.ts';
import { counted } from '../core/counted.ts';
import type { OutsideQuestions } from '../doctor/examine.ts';
import type { Report } from '../doctor/report.ts';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';
import { notify } from './doctor-notify.ts';
import { failureOf } from './refusal.ts';
import { outsideValue } from './values.ts';

interface DoctorOptions extends CommonOptions {
  /** True: without hosts. */
  outside?: URL[] | true;
  strict?: boolean;
  report?: boolean;
  names?: boolean;
  notify?: boolean;
  figures?: boolean;
}

/** The result of an examination. */
interface Examined {
  findings: Finding[];
  /** Null: the configuration is invalid. */
  loaded: LoadedConfig | null;
  counts: Readonly<Record<string, number>>;
  names: HiddenNames;
}

async function examined(context: CliContext, options: DoctorOptions): Promise<Examined> {
  const read = load(context, options);
  const loaded = 'level' in read ? null : read;
  const names = context.hiddenNames(loaded);
  if ('level' in read) return { findings: [read], loaded, counts: {}, names };
  let counts = {};
  const findings = await checked(context, read, options, (database) => {
    ({ counts } = database);
    for (const { kind, name } of database.names) names.add(kind, name);
  });
  return { findings: [...unseenIn(read), ...findings], loaded, counts, names };
}

/** Runs the checks. A fault of the program in one of them becomes a finding too. */
async function checked(
  context: CliContext,
  loaded: LoadedConfig,
  options: DoctorOptions,
  onDatabase: Parameters<CliContext['examine']>[2],
): Promise<Finding[]> {
  try {
    return await context.examine(loaded, outsideOf(context, options), onDatabase);
  } catch (error) {
    const { message } = failureOf(error, loaded.config.dataDir);
    const todo = 'run the doctor as root; if it ends so again, report it as a fault';
    return [about('doctor').problem('doctor_failed', message, todo)];
  }
}

async function doctor(context: CliContext, options: DoctorOptions): Promise<void> {
  if (options.report && options.names) throw new UsageError('--report has no names: omit --names');
  if (options.figures && !options.notify) throw new UsageError('--figures needs --notify');
  const result = await examined(context, options);
  const hidden = result.findings.map((finding) => withoutNames(finding, result.names));
  if (options.notify) {
    // Its exit code says whether the news came through: a timer need not fail with the findings.
    await notify(context, options, hidden).catch((fault: unknown) => {
      for (const finding of result.findings.filter(({ level }) => level === 'problem')) {
        context.stderr(`${asText(finding)}\n`);
      }
      throw fault;
    });
    return;
  }
  const shown = options.json && !options.names ? hidden : result.findings;
  if (options.report) await printReport(context, options, { ...result, findings: hidden });
  else if (options.json) context.stdout(`${JSON.stringify({ findings: shown })}\n`);
  else context.stdout(`${shown.map(asText).join('\n')}\n`);
  throwForLevels(result.findings, options);
}

/** Throws for problems, and with `--strict` for warnings: exit codes 1 and 3. */
function throwForLevels(findings: readonly Finding[], { strict }: DoctorOptions): void {
  const countOf = (wanted: Finding['level']) =>
    findings.filter(({ level }) => level === wanted).length;
  const problems = countOf('problem');
  if (problems > 0) throw new OperatorError(counted(problems, 'problem'));
  const warnings = countOf('warning');
  if (strict && warnings > 0) {
    throw new OperatorError(counted(warnings, 'warning'), 'warnings_found');
  }
}

/** The finding whose sentence quotes values that were not read. */
const INVALID = 'configuration_invalid';

/** Returns a finding with words in place of names. */
function withoutNames(finding: Finding, names: HiddenNames): Finding {
  const { subject, what, todo } = finding;
  // A subject is a name, but for ids and words of ours, which a text may have at other places.
  if (subject !== null && !/^[\w ]{0,12}$|^\d+$/.test(subject)) names.hide(subject);
  return {
    ...finding,
    subject: subject === null ? null : names.hide(subject),
    what: names.hide(finding.name === INVALID ? names.hideQuoted(what) : what),
    todo: todo === null ? null : names.hide(todo),
  };
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
    return say.problem(INVALID, error.message, todo);
  }
}

const SET_HERE = 'set them here too, or put these settings in the file';

/** Warns of settings of the running server that the checks cannot use. */
/** Settings of the server's log change no check. */
function unseenIn(loaded: LoadedConfig): Finding[] {
  const unseen = loaded.unseen.filter(({ name }) => !name.startsWith('log'));
  if (unseen.length === 0) return [];
  const what = `${unseenText(unseen)}: what follows is checked without them`;
  return [say.warning('environment_of_server_unseen', what, SET_HERE)];
}

async function printReport(
  context: CliContext,
  options: DoctorOptions,
  { counts, findings, loaded, names }: Examined,
): Promise<void> {
  const settings = loaded === null ? [] : context.shownSettings(loaded);
  const report = await context.report({
    findings,
    counts,
    dataDir: loaded?.config.dataDir ?? '',
    store: loaded?.config.databaseUrl ? 'postgres' : 'sqlite',
    settings: settings
      .filter(({ origin }) => origin !== 'default')
      .map(({ key, value }) => ({ key, value: names.hide(value) })),
  });
  print(context, options, report, reportText(report));
}

function reportText({ findings, settings, counts, log, ...facts }: Report): string {
  const lines = (title: string, of: readonly string[]) =>
    of.length === 0 ? [] : ['', `${title}:`, ...of.map((line) => `  ${line}`)];
  return [
    ...Object.entries(facts).map(([name, value]) => `${name.padEnd(10)}  ${value}`),
    ...lines(
      'settings',
      settings.map(({ key, value }) => `${key} = ${value}`),
    ),
    ...lines(
      'rows',
      Object.entries(counts).map(([table, count]) => `${table} ${count}`),
    ),
    ...lines(
      'log since the start',
      log.map(({ level, event, count }) => `${level} ${event} ${count}`),
    ),
    ...lines('findings', findings.map(asText)),
  ].join('\n');
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
    .option('--strict', 'exit with 3 if there are warnings alone')
    .option('--report', 'print a report of a fault, without names, addresses and secrets')
    .option(
      '--notify',
      "send what is new or over to the operator's chats and webhooks, and print no more",
    )
    .option('--figures', 'with --notify: once a day the figures of the day before too')
    .option('--names', 'with --json: keep names, addresses and paths')
    .action((options: DoctorOptions) => doctor(context, options));
}

/** `gatepost import`: imports a provider from another server of the API or from a file. */

import { type Command, Option } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { CallFailed } from '../client/provider-client.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { Mover, type Newcomer, settle } from '../core/moving/import.ts';
import { SourceUnusable } from '../core/moving/source.ts';
import { Tally } from '../core/moving/tally.ts';
import { innermostReason } from '../core/outcome.ts';
import { PANELS } from '../core/panel/kind.ts';
import { isBusy, WriteFailed } from '../core/port/store.ts';
import { type CliContext, print, withCore } from './context.ts';
import { addressOf, checkFile, checkServer, type ImportRun, type Origin } from './import-origin.ts';
import { importFromPanel, type PanelImportOptions, refusePanelConflicts } from './import-panel.ts';
import { summaryJson, summaryText } from './import-summary.ts';
import { KEY_FILE, printCredentials } from './key.ts';
import { Progress } from './progress.ts';
import { granted } from './refusal.ts';
import { untilInterrupted } from './signals.ts';
import { EXPIRES, MAX_LINKS, NAME, PLAN } from './terms.ts';
import {
  authKeyValue,
  baseUrlValue,
  callsValue,
  fileValue,
  idRangeValue,
  labelValue,
  memoryValue,
  providerCodeValue,
  unlimitedValue,
  zoneValue,
} from './values.ts';

async function importProvider(
  context: CliContext,
  path: string | undefined,
  options: PanelImportOptions,
  command: Command,
): Promise<void> {
  refuseConflicts(path, options, command);
  const progress = new Progress(context, 'links');
  if (options.panel !== undefined) {
    return untilDone(progress, (signal) =>
      importFromPanel({ context, progress, options, signal }, path),
    );
  }
  // Before the handlers of signals: Ctrl-C must end the wait for a key on stdin.
  const check = path === undefined ? checkServer(addressOf(context, options)) : checkFile(path);
  await untilDone(progress, async (signal) => {
    const run = { context, progress, options, signal };
    // Checks first: a mistyped URL or a truncated file must not create a database.
    const origin = await check(run);
    await withCore(context, options, (core) => bringOver(run, core, origin), true);
  });
}

/** Runs an import until a signal, and explains its faults. */
async function untilDone(progress: Progress, work: (signal: AbortSignal) => Promise<void>) {
  await untilInterrupted(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) throw explain(error);
      throw new OperatorError('interrupted: run the same command to continue', 'interrupted');
    } finally {
      progress.clear();
    }
  });
}

/** Options that do not apply to a file; ignoring them would hide a mistake. */
const FROM_SERVER_ALONE = [
  ...['--key', '--key-file', '--plan', '--expires', '--max-links'],
  ...['--rate', '--zone', '--ids', '--recheck'],
];

function refuseConflicts(path: string | undefined, options: PanelImportOptions, command: Command) {
  const { from } = options;
  refusePanelConflicts(options, command);
  if ((path === undefined) === (from === undefined)) {
    throw new UsageError('give either a file or --from URL');
  }
  if (path === undefined || options.panel !== undefined) return;
  const conflict = command.options.find(
    (option) =>
      FROM_SERVER_ALONE.includes(option.long ?? '') &&
      command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (conflict) throw new UsageError(`${conflict.long} needs --from: it has no effect on a file`);
}

async function bringOver(run: ImportRun, core: Core, { newcomer, linkCount, bring }: Origin) {
  const { context, progress, options, signal } = run;
  const tally = new Tally();
  tally.linksListed = linkCount;
  const mover = await welcome(run, core, tally, newcomer);
  const onStep = () => progress.show(tally.linksDone, tally.linksListed);
  const fault = await bring(mover, onStep).catch((error: unknown) => explain(error));
  progress.clear();
  const isComplete = fault === undefined && !signal.aborted && tally.refused === 0;
  const isFromServer = options.from !== undefined;
  const { plan } = mover.provider;
  const summary = { providerCode: newcomer.code, plan, tally, isComplete, isFromServer };
  print(context, options, summaryJson(summary), summaryText(summary));
  if (!isComplete) {
    throw (
      fault ??
      new OperatorError(`the source refused ${counted(tally.refused, 'link')}`, 'source_unusable')
    );
  }
}

/** Returns the operator's sentence for a known fault; any other fault unchanged. */
function explain(error: unknown): unknown {
  if (error instanceof CallFailed || error instanceof SourceUnusable) {
    return new OperatorError(error.message, 'source_unusable');
  }
  if (error instanceof WriteFailed && !isBusy(error)) {
    const reason = innermostReason(error);
    return new OperatorError(
      `the import could not be saved: ${reason}; earlier records stay`,
      'not_saved',
    );
  }
  return error;
}

/** Finds or adds the provider; prints a new key at once, as the import may be interrupted. */
async function welcome(
  { context, progress, options }: ImportRun,
  core: Core,
  tally: Tally,
  newcomer: Newcomer,
): Promise<Mover> {
  const { code } = newcomer;
  const settled = await settle(core, newcomer, options.newKey ?? false, context.nowMs());
  const { provider, newKey } = granted(settled, code);
  if (newKey !== null) {
    printCredentials(context, options, { code, authKey: newKey });
  } else if (options.newKey) {
    progress.note(`provider ${code} exists and keeps its key (see provider rotate-key)`);
  }
  return new Mover(core, provider, tally, options.update ?? false, context.nowMs);
}

export function addImportCommands(program: Command, context: CliContext): void {
  program
    .command('import')
    .description('import a provider from another server of this API or from an export')
    .argument(
      '[file]',
      'a file of gatepost export, or the database of a panel: SQLite, a dump',
      fileValue,
    )
    .option('--from <url>', 'base URL of the other server', baseUrlValue)
    .option('--code <code>', 'the provider; with a file: another code for it', providerCodeValue)
    .option('--key <key>', 'its key there, which becomes its key here', authKeyValue)
    .option(...KEY_FILE)
    .option('--new-key', 'create a new key here and print it once')
    .option(...NAME)
    .option(...PLAN, 'enterprise')
    .option(...EXPIRES, 'never')
    .option(...MAX_LINKS, 'default')
    .option('--rate <number>', 'the most calls in a second to the other server', callsValue, 20)
    .addOption(
      new Option('--zone <offset>', 'time zone of its answers')
        .argParser(zoneValue)
        .default(zoneValue('+03:00'), '+03:00'),
    )
    .option('--ids <from-to>', 'also fetch the links with these ids, one by one', idRangeValue)
    .option('--recheck', 'also fetch the HWIDs of links that have the same number here')
    .addOption(
      new Option('--panel <panel>', 'import users of a panel, from its database').choices(PANELS),
    )
    .option(
      '--headers-file <file>',
      'headers for an access gateway before the panel, NAME: VALUE in each line',
      fileValue,
    )
    .option(
      '--label <name>',
      'the name of this panel, if there are several of its kind',
      labelValue,
    )
    .addOption(
      new Option(
        '--unlimited-as <limit>',
        'limit of links whose user has none, or skip (default: unlimited_as of the upstream, or 100)',
      ).argParser(unlimitedValue),
    )
    .option('--apply-to-existing', 'lower existing links whose user has no limit to that limit')
    .option('--check', 'read the panel and show what would be imported; store nothing')
    .option('--disable-gone', 'disable links of users that the panel no longer has')
    .option('--disable-disabled', 'disable links of users that the panel has disabled')
    .option('--yes', 'end links even if they are over a tenth of all')
    .option('--memory <mib>', 'the most memory to read the panel, MiB', memoryValue, 512)
    .option('--update', 'overwrite notes, names, limits and states of existing records')
    .action((path: string | undefined, options: PanelImportOptions, command: Command) =>
      importProvider(context, path, options, command),
    );
}

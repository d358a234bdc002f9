/** `gatepost import`: a provider moves in, from another server of the API or from a file. */

import { type Command, Option } from 'commander';
import { CallFailed } from '../client/provider-client.ts';
import type { Core } from '../core/core.ts';
import { Mover, type Newcomer, settle } from '../core/moving/import.ts';
import { SourceUnusable } from '../core/moving/source.ts';
import { Tally } from '../core/moving/tally.ts';
import { innermostReason } from '../core/outcome.ts';
import { WriteFailed } from '../core/port/store.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { type CliContext, print, withCore } from './context.ts';
import {
  addressOf,
  type ImportOptions,
  lookAtFile,
  lookAtServer,
  type Origin,
} from './import-origin.ts';
import { summaryJson, summaryText } from './import-summary.ts';
import { KEY_FILE_ABOUT, KEY_FILE_FLAG } from './key.ts';
import { Progress } from './progress.ts';
import { granted } from './refusal.ts';
import { sheet } from './table.ts';
import {
  authKeyValue,
  baseUrlValue,
  callsPerSecondValue,
  expiresValue,
  fileValue,
  idRangeValue,
  maxLinksValue,
  nameValue,
  planValue,
  providerCodeValue,
  zoneValue,
} from './values.ts';

async function importProvider(
  context: CliContext,
  path: string | undefined,
  options: ImportOptions,
  command: Command,
): Promise<void> {
  refuseMisfits(path, options, command);
  const progress = new Progress(context, 'links');
  // Before signals are heard: whoever waits for a key that does not come can leave.
  const look = lookFor(context, progress, path, options);
  const { signal, release } = stopSignal();
  try {
    // A mistyped address or a file that is cut off must not make a database first.
    const origin = await look(signal);
    const run = (core: Core) => bringOver(context, progress, core, origin, signal, options);
    await withCore(context, options, run, true);
  } catch (error) {
    if (signal.aborted)
      throw new OperatorError('interrupted: run the same command to go on', 'interrupted');
    throw explain(error);
  } finally {
    progress.clear();
    release();
  }
}

function lookFor(
  context: CliContext,
  progress: Progress,
  path: string | undefined,
  options: ImportOptions,
): (signal: AbortSignal) => Promise<Origin> {
  if (path !== undefined) return (signal) => lookAtFile(path, signal, options);
  const address = addressOf(context, options);
  return (signal) => lookAtServer(context, progress, address, signal, options);
}

/** Options that a file has no use for would otherwise be believed to count. */
const FROM_SERVER_ALONE = [
  '--key',
  '--key-file',
  '--plan',
  '--expires',
  '--max-links',
  '--rate',
  '--zone',
  '--ids',
  '--recheck',
];

function refuseMisfits(path: string | undefined, { from }: ImportOptions, command: Command): void {
  if ((path === undefined) === (from === undefined)) {
    throw new UsageError('give a file or --from URL, one of them');
  }
  if (path === undefined) return;
  const misfit = command.options.find(
    (option) =>
      FROM_SERVER_ALONE.includes(option.long ?? '') &&
      command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (misfit) throw new UsageError(`${misfit.long} goes with --from: a file is taken as it is`);
}

async function bringOver(
  context: CliContext,
  progress: Progress,
  core: Core,
  { newcomer, linkCount, bring }: Origin,
  signal: AbortSignal,
  options: ImportOptions,
): Promise<void> {
  const tally = new Tally();
  tally.linksListed = linkCount;
  const mover = await welcome(context, progress, core, tally, newcomer, options);
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
      new OperatorError(`the source did not tell ${tally.refused} links`, 'source_unusable')
    );
  }
}

/** SIGINT and SIGTERM, until released. */
function stopSignal(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const names = ['SIGTERM', 'SIGINT'] as const;
  for (const name of names) process.once(name, stop);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of names) process.off(name, stop);
    },
  };
}

/** What an operator can do something about becomes a sentence. */
function explain(error: unknown): unknown {
  if (error instanceof CallFailed || error instanceof SourceUnusable) {
    return new OperatorError(error.message, 'source_unusable');
  }
  if (error instanceof WriteFailed) {
    const reason = innermostReason(error);
    return new OperatorError(
      `it could not be saved: ${reason}; what was saved before stays`,
      'not_saved',
    );
  }
  return error;
}

/** Finds or makes the provider; says a new key at once, as the work may be interrupted. */
async function welcome(
  context: CliContext,
  progress: Progress,
  core: Core,
  tally: Tally,
  newcomer: Newcomer,
  options: ImportOptions,
): Promise<Mover> {
  const { code } = newcomer;
  const settled = await settle(core, newcomer, options.newKey ?? false, context.nowMs());
  const { provider, newKey } = granted(settled, code);
  if (newKey !== null) {
    const text = sheet([
      ['provider_code', code],
      ['auth_key', newKey],
    ]);
    const note = 'The key is shown this once: only its SHA-256 is stored.';
    print(context, options, { provider_code: code, auth_key: newKey }, `${text}\n${note}`);
  } else if (options.newKey) {
    progress.note(`provider ${code} is here already and keeps its key (see provider rotate-key)`);
  }
  return new Mover(core, provider, tally, options.update ?? false, context.nowMs);
}

export function addImportCommands(program: Command, context: CliContext): void {
  program
    .command('import')
    .description('bring a provider over, from another server of this API or from an export')
    .argument('[file]', 'a file that export wrote', fileValue)
    .option('--from <url>', 'base address of the server that it comes from', baseUrlValue)
    .option('--code <code>', 'the provider; with a file: another code for it', providerCodeValue)
    .option('--key <key>', 'its key there, which becomes its key here', authKeyValue)
    .option(KEY_FILE_FLAG, KEY_FILE_ABOUT, fileValue)
    .option('--new-key', 'give it a new key here and print it, for the only time')
    .option('--name <name>', 'what you call the provider', nameValue)
    .option(
      '--plan <plan>',
      'basic, pro or enterprise, which the API does not tell',
      planValue,
      'basic',
    )
    .option(
      '--expires <date>',
      'last day of the subscription in UTC+3, or never',
      expiresValue,
      'never',
    )
    .option('--max-links <number>', 'cap on limited links, or default', maxLinksValue, 'default')
    .option(
      '--rate <number>',
      'calls a second to the other server, at most',
      callsPerSecondValue,
      20,
    )
    .addOption(
      new Option('--zone <offset>', 'the zone of the times in its answers')
        .argParser(zoneValue)
        .default(zoneValue('+03:00'), '+03:00'),
    )
    .option('--ids <from-to>', 'also ask for the links with these ids, one by one', idRangeValue)
    .option('--recheck', 'ask for the HWIDs of links also where their number is the same here')
    .option('--update', 'take notes, names, limits and states of what is here already')
    .action((path: string | undefined, options: ImportOptions, command: Command) =>
      importProvider(context, path, options, command),
    );
}

/** `gatepost import`: a provider moves in, from another server of the API or from a file. */

import type { Command } from 'commander';
import { CallFailed, ProviderClient } from '../client/provider-client.ts';
import type { Core } from '../core/core.ts';
import { importFromSource, Mover, type Newcomer, settle } from '../core/moving-in.ts';
import { WriteFailed } from '../core/outcome.ts';
import { AUTH_KEY, type Plan } from '../core/provider.ts';
import { hashKey } from '../core/secret.ts';
import { SourceUnusable } from '../core/source.ts';
import { Tally } from '../core/tally.ts';
import { OperatorError } from '../operator-error.ts';
import { VERSION } from '../version.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { readContents, storeFile } from './import-file.ts';
import { summaryJson, summaryText } from './import-summary.ts';
import { Progress } from './progress.ts';
import { sheet } from './table.ts';
import {
  authKeyValue,
  baseUrlValue,
  callsPerSecondValue,
  expiresValue,
  idRangeValue,
  maxLinksValue,
  nameValue,
  planValue,
  providerCodeValue,
  zoneValue,
} from './values.ts';

interface ImportOptions extends CommonOptions {
  from?: string;
  code?: string;
  key?: string;
  keyFile?: string;
  newKey?: boolean;
  name?: string;
  plan: Plan;
  expires: number | 'never';
  maxLinks: number | 'default';
  rate: number;
  zone: number;
  ids?: { from: number; to: number };
  recheck?: boolean;
  update?: boolean;
}

/** How long the other server may take for one answer, ms. */
const TIMEOUT_MS = 30_000;
/** How many calls may be under way at a time; the rate bounds them too. */
const CALLS_MAX = 8;
/** The shortest pause worth a line, ms. */
const TELL_PAUSE_MS = 2_000;

/** What an import is made of, whichever way it comes. */
interface Work {
  core: Core;
  tally: Tally;
  progress: Progress;
  signal: AbortSignal;
}

async function importProvider(
  context: CliContext,
  path: string | undefined,
  options: ImportOptions,
  command: Command,
): Promise<void> {
  const { from } = options;
  if ((path === undefined) === (from === undefined)) {
    command.error('error: give a file or --from URL, one of them');
  }
  const run = async (core: Core) => {
    const { signal, release } = stopSignal();
    const progress = new Progress(context, 'links');
    const work: Work = { core, tally: new Tally(), progress, signal };
    try {
      const prepared =
        path === undefined
          ? await prepareFromServer(context, work, options, command)
          : await prepareFromFile(context, work, path, options);
      const fault = await prepared.run().catch((error: unknown) => explain(error));
      progress.clear();
      const { tally } = work;
      const isComplete = fault === undefined && !signal.aborted && tally.refused === 0;
      const isFromServer = path === undefined;
      const summary = { providerCode: prepared.provider, tally, isComplete, isFromServer };
      print(context, options, summaryJson(summary), summaryText(summary));
      if (!isComplete) {
        throw fault ?? new OperatorError(`the source did not tell ${tally.refused} links`);
      }
    } catch (error) {
      if (signal.aborted) throw new OperatorError('interrupted: run the same command to go on');
      throw explain(error);
    } finally {
      progress.clear();
      release();
    }
  };
  await withCore(context, options, run, true);
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
    return new OperatorError(error.message);
  }
  if (error instanceof WriteFailed) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return new OperatorError(`${error.message}${cause}; what was saved before stays`);
  }
  return error;
}

/** Who moves in, and the work itself. */
interface Prepared {
  provider: string;
  run(): Promise<void>;
}

async function prepareFromServer(
  context: CliContext,
  work: Work,
  options: ImportOptions,
  command: Command,
): Promise<Prepared> {
  const { code, from } = options;
  if (code === undefined || from === undefined) return command.error('error: --code is needed');
  const authKey = await keyOf(options, command);
  const { tally, progress, signal } = work;
  if (/^http:/.test(from) && !/^http:\/\/(localhost|127\.|\[::1\])/.test(from)) {
    context.stderr('gatepost: the key crosses the network unencrypted: https is safer\n');
  }
  const client = new ProviderClient({
    url: from,
    providerCode: code,
    authKey,
    callsPerSecondMax: options.rate,
    userAgent: `gatepost-import/${VERSION}`,
    timeoutMs: TIMEOUT_MS,
    nowMs: context.nowMs,
    sleep: context.sleep,
    signal,
    onPause: (why, pauseMs) => {
      if (pauseMs < TELL_PAUSE_MS) return;
      progress.note(`${why}: trying again in ${Math.round(pauseMs / 1000)} s`);
    },
  });
  // A wrong key must not become a provider's key here.
  await client.list('/api/list-domain', {});
  const nowMs = context.nowMs();
  const { mover } = await welcome(context, work, options, {
    code,
    name: options.name ?? code,
    plan: options.plan,
    keyHash: hashKey(authKey),
    activeUntilMs: typeof options.expires === 'number' ? options.expires : null,
    suspendedAtMs: null,
    installCountMax: typeof options.maxLinks === 'number' ? options.maxLinks : null,
    createdAtMs: nowMs,
  });
  return {
    provider: code,
    run: () =>
      importFromSource(mover, (path, query) => client.list(path, query), {
        offsetMinutes: options.zone,
        rechecks: options.recheck ?? false,
        ids: options.ids ?? null,
        callsMax: CALLS_MAX,
        isStopped: () => signal.aborted,
        onStep: () => progress.show(tally.linksDone, tally.linksListed),
      }),
  };
}

async function prepareFromFile(
  context: CliContext,
  work: Work,
  path: string,
  options: ImportOptions,
): Promise<Prepared> {
  const { newcomer, counts, highest } = await readContents(path);
  const code = options.code ?? newcomer.code;
  const { name = newcomer.name } = options;
  const { mover } = await welcome(context, work, options, { ...newcomer, code, name });
  work.tally.linksListed = counts.installs;
  const { tally, progress, signal } = work;
  return {
    provider: code,
    run: () =>
      storeFile(path, mover, highest, {
        isStopped: () => signal.aborted,
        onStep: () => progress.show(tally.linksDone, tally.linksListed),
      }),
  };
}

/** Finds or makes the provider; says a new key at once, as the work may be interrupted. */
async function welcome(
  context: CliContext,
  { core, tally, progress }: Work,
  options: ImportOptions,
  newcomer: Newcomer,
): Promise<{ mover: Mover }> {
  const { code } = newcomer;
  const settled = await settle(core, newcomer, options.newKey ?? false, context.nowMs());
  if (settled === 'other_key') {
    throw new OperatorError(
      `provider ${code} is here already, with another key; if it is the same provider, --new-key goes on and leaves the key here as it is`,
    );
  }
  const { provider, newKey } = settled;
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
  return { mover: new Mover(core, provider, tally, options.update ?? false, context.nowMs) };
}

/** The key, from wherever it was given. */
async function keyOf({ key, keyFile }: ImportOptions, command: Command): Promise<string> {
  if ((key === undefined) === (keyFile === undefined)) {
    return command.error('error: give --key or --key-file, one of them');
  }
  if (key !== undefined) return key;
  let text: string;
  try {
    text = await (keyFile === '-' ? Bun.stdin : Bun.file(keyFile ?? '')).text();
  } catch (error) {
    throw new OperatorError(`cannot read ${keyFile}: ${(error as Error).message}`);
  }
  if (!AUTH_KEY.test(text.trim())) {
    throw new OperatorError(`${keyFile} does not hold a key: 32 letters, digits, - and _`);
  }
  return text.trim();
}

export function addImportCommands(program: Command, context: CliContext): void {
  program
    .command('import')
    .description('bring a provider over, from another server of this API or from an export')
    .argument('[file]', 'a file that export wrote')
    .option('--from <url>', 'base address of the server that it comes from', baseUrlValue)
    .option('--code <code>', 'the provider; with a file: another code for it', providerCodeValue)
    .option('--key <key>', 'its key there, which becomes its key here', authKeyValue)
    .option('--key-file <file>', 'the key from a file, - for stdin: not seen in process lists')
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
    .option(
      '--zone <offset>',
      'the zone of the times in its answers',
      zoneValue,
      zoneValue('+03:00'),
    )
    .option('--ids <from-to>', 'also ask for the links with these ids, one by one', idRangeValue)
    .option('--recheck', 'ask for the HWIDs of links also where their number is the same here')
    .option('--update', 'take notes, names, limits and states of what is here already')
    .action((path: string | undefined, options: ImportOptions, command: Command) =>
      importProvider(context, path, options, command),
    );
}

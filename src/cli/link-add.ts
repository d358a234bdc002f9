/** `gatepost link add` and `link import`: make limited links, one or many. */

import type { Command } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import type { LinkRow } from '../core/link-csv.ts';
import { foreseeLink, type LinkDraft, type MadeLink } from '../core/link-make.ts';
import { INSTALL_ACTIVE, type LinkTerms } from '../core/port/link.ts';
import type { Provider } from '../core/port/provider.ts';
import { LINK_TERMS } from '../core/terms.ts';
import { labels } from '../labels/en.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { readLinkFile } from './link-csv.ts';
import { linkTable, linkView, type ShownLink } from './link-filter.ts';
import { make } from './make.ts';
import { PROVIDER, type ProviderOptions, providerOf } from './provider-name.ts';
import { granted } from './refusal.ts';
import { addTerms, givenTerms } from './term-options.ts';
import {
  fileValue,
  installLimitValue,
  newInstallCodeValue,
  noteValue,
  subscriptionKeyValue,
  togetherValue,
} from './values.ts';

/** The default limit of a link, as in the gate's upstreams. */
const LIMIT = 3;

interface AddOptions extends CommonOptions, ProviderOptions {
  count?: number;
  limit: number;
  note?: string;
  key?: string;
  code?: string;
}

interface ImportOptions extends CommonOptions, ProviderOptions {
  limit: number;
  check?: boolean;
}

/** Returns the notes of `count` links: numbered with as many digits as the last number has. */
function numbered(note: string | undefined, count: number): (string | null)[] {
  const digits = String(count).length;
  return Array.from({ length: count }, (_, n) =>
    note === undefined ? null : `${note} ${String(n + 1).padStart(digits, '0')}`,
  );
}

/** Returns a new link in the form of lists. */
function addedLink(
  { code: providerCode }: Provider,
  { id, code: installCode }: { id: number; code: string },
  note: string | null,
  installLimit: number,
  createdAtMs: number,
): ShownLink {
  const fresh = { deviceCount: 0, status: INSTALL_ACTIVE, note, createdAtMs };
  return { id, installCode, installLimit, providerCode, ...fresh };
}

/** Makes links, up to the first that stops, as many at a time as a call may. */
async function makeAll(
  core: Core,
  provider: Provider,
  drafts: readonly LinkDraft[],
  nowMs: number,
): Promise<MadeLink[]> {
  const { DRAFTS_MAX } = await import('../call/link-file-calls.ts');
  const made: MadeLink[] = [];
  for (let at = 0; at < drafts.length; at += DRAFTS_MAX) {
    const some = drafts.slice(at, at + DRAFTS_MAX);
    const done = await make('links.add-many', { core, nowMs, provider }, { drafts: some });
    const got = granted(done, provider.code);
    made.push(...got.made);
    if (got.isStopped) break;
  }
  return made;
}

async function add(context: CliContext, options: AddOptions): Promise<void> {
  const { count, limit, note, key = null, code = null } = options;
  if (count !== undefined && (key !== null || code !== null)) {
    throw new UsageError('--key and --code are for one link: they do not go with --count');
  }
  const notes = count === undefined ? [note ?? null] : numbered(note, count);
  const longest = notes.at(-1);
  if (longest != null) noteValue(longest);
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const room =
      (provider.installCountMax ?? core.limits.linksPerProviderMax) - provider.installCount;
    if (room < notes.length) {
      const wanted = counted(notes.length, 'link');
      throw new OperatorError(
        `${provider.code} may have ${counted(Math.max(room, 0), 'more link')}, not ${wanted}: nothing was changed`,
        'links_max_reached',
      );
    }
    const terms = givenTerms<LinkTerms>(LINK_TERMS, options);
    const drafts = notes.map((own) => ({ ...terms, key, code, limit, note: own }));
    const nowMs = context.nowMs();
    const made = await makeAll(core, provider, drafts, nowMs);
    // Not read back: a failed read must not hide the codes of created links.
    const links = made.flatMap((one, n) =>
      one.done === 'added' ? [addedLink(provider, one, notes[n] ?? null, limit, nowMs)] : [],
    );
    const views = links.map(linkView);
    if (views.length > 0) {
      print(context, options, count === undefined ? views[0] : views, linkTable(links));
    }
    for (const one of made) {
      if (one.done === 'added' || one.done === 'keyed') continue;
      const done =
        count === undefined ? '' : `${counted(links.length, 'link')} of ${count} added: `;
      throw new OperatorError(done + one.why, one.done === 'stopped' ? one.error : 'link_exists');
    }
  });
}

async function importFile(context: CliContext, path: string, options: ImportOptions) {
  await withCore(context, options, async (core) => {
    const rows = readLinkFile(path);
    const terms = givenTerms<LinkTerms>(LINK_TERMS, options);
    const drafts = rows.map((row) => ({
      ...terms,
      ...row,
      limit: row.limit ?? options.limit,
      joins: true,
    }));
    const provider = await providerOf(core, options);
    const made: MadeLink[] = [];
    if (options.check) {
      for (const draft of drafts) made.push(await foreseeLink(core, provider, draft));
    } else made.push(...(await makeAll(core, provider, drafts, context.nowMs())));
    printImport(context, options, rows, made);
    const stopped = made.find((one) => one.done === 'stopped');
    if (stopped !== undefined) throw new OperatorError(stopped.why, stopped.error);
  });
}

/** The most skipped rows that are listed. */
const SKIPPED_MAX = 20;

function printImport(
  context: CliContext,
  options: ImportOptions,
  rows: readonly LinkRow[],
  made: readonly MadeLink[],
): void {
  const { check: isCheck = false } = options;
  const links = made.map((one, n) => {
    const { line = 0, note = null } = rows[n] ?? {};
    if (one.done === 'keyed') {
      const { code: install_code, leftCount: left_out, movedCount: moved } = one;
      return { line, note, done: one.done, install_code, moved, left_out };
    }
    if (one.done !== 'added') return { line, note, done: one.done, why: one.why };
    const code = one.code === '' ? null : one.code;
    return { line, note, done: one.done, id: isCheck ? null : one.id, install_code: code };
  });
  const skipped = links.filter(({ done }) => done === 'skipped' || done === 'stopped');
  const keyed = made.filter((one) => one.done === 'keyed');
  const sumOf = (of: 'movedCount' | 'leftCount') => keyed.reduce((sum, one) => sum + one[of], 0);
  const facts = {
    check: isCheck,
    rows: rows.length,
    added: links.filter(({ done }) => done === 'added').length,
    keyed: keyed.length,
    skipped: links.filter(({ done }) => done === 'skipped').length,
    links,
  };
  const shown = skipped
    .slice(0, SKIPPED_MAX)
    .map((one) => `line ${one.line}: ${'why' in one ? one.why : ''}`);
  const verb = isCheck ? 'would be added' : 'added';
  const summary = `${counted(facts.added, 'link')} of ${rows.length} ${verb}, ${facts.skipped} skipped`;
  const joined =
    keyed.length === 0
      ? []
      : [
          `${counted(keyed.length, 'link')} ${isCheck ? 'would get' : 'got'} the key: ${counted(sumOf('movedCount'), 'device')} ${isCheck ? 'would move' : 'moved'}, ${counted(sumOf('leftCount'), 'phone')} left out`,
        ];
  const rest = skipped.length > SKIPPED_MAX ? ['and more: see --json'] : [];
  print(context, options, facts, [summary, ...joined, ...shown, ...rest].join('\n'));
}

export function addAddCommands(link: Command, context: CliContext): void {
  const adding = link
    .command('add')
    .description('make a link, or many with numbered notes')
    .option(...PROVIDER)
    .option('--count <number>', 'the number of links to make', togetherValue)
    .option('--limit <number>', `the ${labels.install_limit}`, installLimitValue, LIMIT)
    .option('--note <text>', `a ${labels.note}; with --count a number follows it`, noteValue)
    .option('--key <key>', `the ${labels.subscription_key} of the panel`, subscriptionKeyValue)
    .option('--code <code>', 'its code; a random one if omitted', newInstallCodeValue);
  addTerms(adding, LINK_TERMS).action((options: AddOptions) => add(context, options));

  const importing = link
    .command('import')
    .description(
      'make links, and give keys to links that exist, from a CSV file with the columns key, code, limit, note and greeting',
    )
    .argument(
      '<file>',
      'its first row names the columns; a row with the code of a link gives it the key',
      fileValue,
    )
    .option(...PROVIDER)
    .option(
      '--limit <number>',
      `the ${labels.install_limit} of links whose row has none`,
      installLimitValue,
      LIMIT,
    )
    .option('--check', 'read the file and show what would be made; change nothing');
  addTerms(importing, LINK_TERMS).action((path: string, options: ImportOptions) =>
    importFile(context, path, options),
  );
}

/** The links of a command: one by its name, or many by a filter, after a preview. */

import type { Command } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { isRefused } from '../core/outcome.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED, type Link } from '../core/port/link.ts';
import type { LinkFilter, OwnedLink } from '../core/port/link-view.ts';
import type { ShownFigures } from '../core/port/subscription-figures.ts';
import { activityWord } from '../core/status-word.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { addFigures, type FiguresOptions, figuresOf, trafficText } from './figures.ts';
import { findNamed, LINKS_ARGUMENT, type LinkName } from './link-name.ts';
import { codeOf, OF_PROVIDER, providerOf } from './provider-name.ts';
import { errorOf, granted } from './refusal.ts';
import { table } from './table.ts';
import { linkSearchValue, showTime, showTimeOrNull } from './values.ts';

export interface FilterOptions extends FiguresOptions {
  provider?: string;
  full?: boolean;
  over?: boolean;
  copied?: boolean;
  active?: boolean;
  disabled?: boolean;
  search?: string;
}

/** Adds the options of a filter. */
export function addFilter(command: Command): Command {
  command
    .option(...OF_PROVIDER)
    .option('--full', 'only links without a free slot')
    .option('--over', 'only links with more HWIDs than their limit')
    .option('--copied', 'only links with a HWID that several phones certainly send')
    .option('--active', 'only active links')
    .option('--disabled', 'only disabled links')
    .option(
      '--search <text>',
      'only with this text in note, code or device model, or at the start of a HWID',
      linkSearchValue,
    );
  return addFigures(command, 'only links');
}

/** Reads the filter at a time. Throws `provider_not_found`, and where no figures are kept. */
export async function filterOf(
  core: Core,
  options: FilterOptions,
  nowMs: number,
): Promise<LinkFilter> {
  const { full, over, copied, active, disabled, search } = options;
  if (active && disabled) throw new UsageError('--active and --disabled exclude each other');
  const providers = async () =>
    options.provider === undefined ? core.store.listProviders() : [await providerOf(core, options)];
  return {
    ...(await figuresOf(options, providers, nowMs)),
    providerCode: await codeOf(core, options),
    isFull: full ?? false,
    isOver: over ?? false,
    isCopied: copied ?? false,
    status: active ? INSTALL_ACTIVE : disabled ? INSTALL_DISABLED : null,
    search: search ?? null,
  };
}

/** A link in the form of lists. */
export type ShownLink = Link & Pick<OwnedLink, 'providerCode'>;

/** Returns a link as JSON, with the names of the API. */
export function linkView(link: ShownLink) {
  return {
    install_code: link.installCode,
    provider_code: link.providerCode,
    id: link.id,
    active: link.status === INSTALL_ACTIVE,
    install_limit: link.installLimit,
    install_count: link.deviceCount,
    note: link.note,
    created_at: showTime(link.createdAtMs),
  };
}

/** Returns links as a table; figures have columns if some link has them. */
export function linkTable(
  links: readonly (ShownLink & { figures?: ShownFigures | null })[],
): string {
  const isFigured = links.some(({ figures }) => figures != null);
  const rows = links.map((link) => ({ ...linkView(link), figures: link.figures ?? null }));
  return table(rows, {
    ID: 'id',
    CODE: 'install_code',
    PROVIDER: 'provider_code',
    STATE: ({ active }) => activityWord(active),
    HWIDS: 'install_count',
    LIMIT: 'install_limit',
    ...(isFigured && {
      ENDS: ({ figures }) => (figures && showTimeOrNull(figures.endsAtMs)) ?? '',
      TRAFFIC: ({ figures }) => (figures === null ? '' : trafficText(figures)),
    }),
    CREATED: 'created_at',
    NOTE: ({ note }) => note ?? '',
  });
}

export interface ManyOptions extends ConfirmOptions, FilterOptions {
  all?: boolean;
}

/** The most links that one command changes, and that a preview shows. */
export const MANY_MAX = 100_000;
const PREVIEW_MAX = 20;

/** Adds the argument and the options of a command for one link or many. */
export function addMany(command: Command): Command {
  return addFilter(command.argument(...LINKS_ARGUMENT))
    .option('--all', 'all links')
    .option('--yes', 'do not ask for confirmation');
}

/** Throws {@link UsageError} unless a name or a filter chooses the links. */
export function refuseNoChoice(name: LinkName | undefined, options: ManyOptions): void {
  const { all, provider, full, over, copied, active, disabled, search } = options;
  const { ended, endsIn, trafficOver, unread } = options;
  const figures = [ended, endsIn, trafficOver, unread];
  const which = [all, provider, full, over, copied, active, disabled, search, ...figures];
  const isFiltered = which.some(Boolean);
  if (name !== undefined && isFiltered) {
    throw new UsageError('give either a link or a filter');
  }
  if (name === undefined && !isFiltered) {
    throw new UsageError('no link is chosen: give a link, --search or another filter, or --all');
  }
  if (active && disabled) throw new UsageError('--active and --disabled exclude each other');
}

/** Finds the link of a name, or those of the filter. */
export async function choose(
  core: Core,
  name: LinkName | undefined,
  options: ManyOptions,
  nowMs: number,
): Promise<OwnedLink[]> {
  if (name !== undefined) return [(await findNamed(core, name)).link];
  return core.store.listLinks({ ...(await filterOf(core, options, nowMs)), countMax: MANY_MAX });
}

/** A change of links: words such as `Remove` and `removed`, and the change of one. */
interface LinkChanging {
  verb: string;
  done: string;
  /** Returns the question before the change of a link that is named; absent: none is asked. */
  question?: (link: OwnedLink) => string;
  change(core: Core, link: OwnedLink): Promise<unknown>;
}

/** Changes the link of a name, or after a preview those of a filter, and prints the outcomes. */
export async function changeLinks(
  context: CliContext,
  name: LinkName | undefined,
  options: ManyOptions,
  { verb, done, question, change }: LinkChanging,
): Promise<void> {
  refuseNoChoice(name, options);
  await withCore(context, options, async (core) => {
    const links = await choose(core, name, options, context.nowMs());
    const [link] = links;
    if (name !== undefined && link !== undefined) {
      const { installCode } = link;
      if (question) await confirm(context, options, question(link));
      granted(await change(core, link), installCode);
      const facts = { install_code: installCode, done };
      return print(context, options, facts, `${installCode} ${done}`);
    }
    await preview(context, options, verb, links);
    const outcomes = await onEach(links, async (link) => {
      const outcome = await change(core, link);
      const error = isRefused(outcome) ? errorOf(outcome, link.installCode) : null;
      if (error !== null && !(error instanceof OperatorError)) throw error;
      return error?.message ?? null;
    });
    printOutcomes(context, options, done, outcomes);
  });
}

/** Shows the links of a filter, and asks for confirmation of `verb`. */
export async function preview(
  context: CliContext,
  options: ManyOptions,
  verb: string,
  links: readonly OwnedLink[],
): Promise<void> {
  if (links.length === 0) return;
  if (!options.yes) {
    const rest = links.length > PREVIEW_MAX ? `and ${links.length - PREVIEW_MAX} more\n` : '';
    context.stderr(`${linkTable(links.slice(0, PREVIEW_MAX))}\n${rest}`);
  }
  await confirm(context, options, `${verb} ${counted(links.length, 'link')}`);
}

/** The outcome for a link. */
interface Outcome {
  link: OwnedLink;
  /** The reason of a refusal; null: done. */
  refused: string | null;
}

/** The outcomes up to a fault. */
interface Outcomes {
  outcomes: Outcome[];
  /** The fault that stopped the command; null: all links were tried. */
  stopped: { fault: unknown } | null;
}

/** Links that are changed at a time, so that their changes share commits. */
const TOGETHER = 50;

/** Runs `act` for all links, {@link TOGETHER} at a time, until it throws. */
export async function onEach(
  links: readonly OwnedLink[],
  act: (link: OwnedLink) => Promise<string | null>,
): Promise<Outcomes> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < links.length; at += TOGETHER) {
    const some = links.slice(at, at + TOGETHER);
    const done = some.map(async (link) => ({ link, refused: await act(link) }));
    const settled = await Promise.allSettled(done);
    for (const one of settled) if (one.status === 'fulfilled') outcomes.push(one.value);
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed !== undefined) return { outcomes, stopped: { fault: failed.reason } };
  }
  return { outcomes, stopped: null };
}

/**
 * Prints the outcomes for links of a filter, then throws the fault that stopped the command; `done`
 * is a word such as `changed`.
 */
export function printOutcomes(
  context: CliContext,
  options: CommonOptions,
  done: string,
  { outcomes, stopped }: Outcomes,
): void {
  const refused = outcomes.filter((outcome) => outcome.refused !== null);
  const facts = {
    done,
    count: outcomes.length - refused.length,
    install_codes: outcomes.flatMap(({ link, refused: why }) =>
      why === null ? [link.installCode] : [],
    ),
    refused: refused.map(({ link, refused: why }) => ({ install_code: link.installCode, why })),
  };
  const lines = refused.map(({ link, refused: why }) => `${link.installCode}: ${why}`);
  const summary = `${counted(facts.count, 'link')} ${done}`;
  const rest = refused.length > 0 ? `, ${refused.length} not:` : '';
  print(context, options, facts, [`${summary}${rest}`, ...lines].join('\n'));
  if (stopped !== null) throw stopped.fault;
}

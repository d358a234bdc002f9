/** `gatepost link ties`, `tie` and `untie`: keys of subscriptions that become those of links. */

import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { RECORD_ID } from '../core/formats.ts';
import { type SettledTie, TIE_DAYS, TIE_FAILURES } from '../core/link-tie.ts';
import { isRefused } from '../core/outcome.ts';
import type { Tie, TieState } from '../core/port/link-tie.ts';
import type { Provider } from '../core/port/provider.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { make } from './make.ts';
import { PROVIDER, type ProviderOptions, providerOf } from './provider-name.ts';
import { granted } from './refusal.ts';
import { table } from './table.ts';
import { instantValue, SINCE_HELP, showTime } from './values.ts';

type Options = CommonOptions & ProviderOptions & ConfirmOptions;

interface TiesOptions extends Options {
  tied?: boolean;
  on?: boolean;
  off?: boolean;
}

interface SettleOptions extends Options {
  all?: boolean;
  since?: (nowMs: number) => number;
}

/** The most ties of a read. */
const READ_COUNT = 500;

/** Lists all ties of a provider in a state. */
async function allTies(
  { store }: Core,
  provider: Provider,
  state: TieState,
  sinceMs = 0,
): Promise<Tie[]> {
  const ties: Tie[] = [];
  for (;;) {
    const afterId = ties.at(-1)?.id ?? 0;
    const page = { afterId, sinceMs, countMax: READ_COUNT };
    const some = await store.listTies(provider.id, state, page);
    ties.push(...some);
    if (some.length < READ_COUNT) return ties;
  }
}

const tieView = ({ id, installId, note, atMs, formerId, leftCount, movingCount }: Tie) => ({
  id,
  install_id: installId,
  note,
  former_id: formerId,
  moved: movingCount,
  left_out: leftCount,
  at: showTime(atMs),
});

const COLUMNS = {
  ID: 'id',
  LINK: 'install_id',
  NOTE: 'note',
  FORMER: ({ former_id: id }: ReturnType<typeof tieView>) => id ?? '',
  MOVE: 'moved',
  'LEFT OUT': 'left_out',
  AT: 'at',
} as const;

const tieTable = (ties: readonly Tie[]) =>
  table(
    ties.map(tieView).map((row) => ({ ...row, note: row.note === null ? '' : visible(row.note) })),
    COLUMNS,
  );

const sumOf = (ties: readonly Tie[], of: 'movingCount' | 'leftCount') =>
  ties.reduce((sum, tie) => sum + tie[of], 0);

/** Says what ties would change, or changed. */
const summaryOf = (ties: readonly Tie[]): string => {
  const ended = ties.filter(({ formerId }) => formerId !== null).length;
  return `${counted(ties.length, 'link')} with a key, ${counted(ended, 'made link')} ended, ${counted(sumOf(ties, 'movingCount'), 'device')} moved, ${counted(sumOf(ties, 'leftCount'), 'phone')} left out`;
};

/** Shows what waits, or was tied; switches the ties by fetches on or off. */
async function show(context: CliContext, options: TiesOptions): Promise<void> {
  const { off = false, on = false, tied = false } = options;
  if (on && off) throw new UsageError('give either --on or --off');
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const state = tied ? 'tied' : 'waits';
    const ties = await allTies(core, provider, state);
    const wasOn = (await core.store.findTiesSwitch(provider.id)) === true;
    const isSwitched = (on && !wasOn) || (off && wasOn);
    const shown = [
      ...(ties.length > 0 ? [tieTable(ties)] : []),
      tied ? `In ${TIE_DAYS} days: ${summaryOf(ties)}.` : `Waiting: ${summaryOf(ties)}.`,
    ].join('\n');
    if (isSwitched) {
      context.stderr(`${shown}\n`);
      await confirm(
        context,
        options,
        `Switch ties by fetches ${on ? 'on' : 'off'} for ${provider.code}`,
      );
      const doer = { core, nowMs: context.nowMs(), provider };
      await make('ties.switch', doer, { isOn: on });
    }
    const isOn = isSwitched ? on : wasOn;
    const word = `Ties by fetches are ${isOn ? 'on' : 'off'} for ${provider.code}.`;
    const facts = { provider_code: provider.code, ties: isOn ? 'on' : 'off', state };
    const text = isSwitched ? word : `${shown}\n${word}`;
    print(context, options, { ...facts, rows: ties.map(tieView) }, text);
  });
}

/** Makes or undoes ties, as many at a time as a call may. */
async function settle(
  context: CliContext,
  ids: readonly number[],
  options: SettleOptions,
  isUndo: boolean,
): Promise<void> {
  const { all = false, since } = options;
  if ([ids.length > 0, all, since !== undefined].filter(Boolean).length !== 1) {
    throw new UsageError(`give ids${isUndo ? ', --since' : ''} or --all`);
  }
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const nowMs = context.nowMs();
    const state = isUndo ? 'tied' : 'waits';
    const chosen =
      ids.length > 0 ? null : await allTies(core, provider, state, since?.(nowMs) ?? 0);
    if (chosen !== null && chosen.length > 0) context.stderr(`${summaryOf(chosen)}\n`);
    const wanted = chosen?.map(({ id }) => id) ?? [...ids];
    if (wanted.length > 0) {
      const verb = isUndo ? 'Undo' : 'Make';
      await confirm(context, options, `${verb} ${counted(wanted.length, 'tie')}`);
    }
    const { TIES_MAX } = await import('../call/tie-calls.ts');
    const doer = { core, nowMs, provider };
    const settled: ({ id: number } & SettledTie)[] = [];
    for (let at = 0; at < wanted.length; at += TIES_MAX) {
      const given = { ids: wanted.slice(at, at + TIES_MAX) };
      const done = await make(isUndo ? 'ties.undo' : 'ties.make', doer, given);
      settled.push(...granted(done, provider.code));
    }
    const failed = settled.flatMap((one) => ('why' in one ? [one] : []));
    const rows = settled.map((one) =>
      'why' in one ? { id: one.id, done: 'no', why: one.why } : { id: one.id, done: one.done },
    );
    const done = isUndo ? 'undone' : 'made';
    const text = [
      `${counted(settled.length - failed.length, 'tie')} ${done}`,
      ...failed.slice(0, 20).map(({ id, why }) => `tie ${id}: ${TIE_FAILURES[why]}`),
    ].join('\n');
    print(context, options, rows, text);
    if (failed.length > 0 && failed.length === settled.length) {
      throw new OperatorError(`no tie was ${done}`);
    }
  });
}

/** Reads one of several ids. */
function idsValue(text: string, previous: readonly number[] = []): number[] {
  const id = RECORD_ID.read(text);
  if (isRefused(id)) throw new InvalidArgumentError(`a tie is given by its number: ${id.detail}`);
  return [...previous, id];
}

export function addTieCommands(link: Command, context: CliContext): void {
  link
    .command('ties')
    .description('show the keys that wait for a link, and switch ties by fetches on or off')
    .option(...PROVIDER)
    .option('--tied', `show those that were tied in the last ${TIE_DAYS} days`)
    .option('--on', 'let fetches with the code of a link tie keys')
    .option('--off', 'let each tie wait')
    .option('--yes', 'do not ask for confirmation')
    .action((options: TiesOptions) => show(context, options));

  link
    .command('tie')
    .description('make ties that wait: devices move within the limit, the others lose their slots')
    .argument('[id...]', "the numbers of 'link ties'", idsValue)
    .option(...PROVIDER)
    .option('--all', 'all that wait')
    .option('--yes', 'do not ask for confirmation')
    .action((ids: number[] | undefined, options: SettleOptions) =>
      settle(context, ids ?? [], options, false),
    );

  link
    .command('untie')
    .description('undo ties, or dismiss some that wait: links that ended come back')
    .argument('[id...]', "the numbers of 'link ties'", idsValue)
    .option(...PROVIDER)
    .option('--since <time>', `those made ${SINCE_HELP}`, instantValue)
    .option('--all', 'all that were made')
    .option('--yes', 'do not ask for confirmation')
    .action((ids: number[] | undefined, options: SettleOptions) =>
      settle(context, ids ?? [], options, true),
    );
}

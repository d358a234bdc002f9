/** `gatepost reminder …`: texts that the users of a provider get by themselves. */

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import { plainText } from '../core/message/plain-text.ts';
import {
  PUSH_TEXTS,
  REMINDER_KINDS,
  type Reminder,
  type ReminderKind,
  type ReminderTexts,
} from '../core/port/reminder.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { make } from './make.ts';
import {
  listOwned,
  OF_PROVIDER,
  ownerName,
  PROVIDER,
  type ProviderOptions,
  providerOf,
} from './provider-name.ts';
import { granted } from './refusal.ts';
import { amountIn, amountText, amountValue } from './reminder-amount.ts';
import { addRoundCommands } from './reminder-rounds.ts';
import { reminderIdValue, showTime, showTimeOrNull } from './values.ts';

type Options = CommonOptions & ProviderOptions;

interface SetOptions extends Options {
  text?: Record<string, string>;
  pushText?: Reminder['pushText'];
  enabled?: 'yes' | 'no';
}

/** Adds `LANGUAGE=TEXT` to the texts before it. */
function textValue(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, tag, text] = /^([A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{2,8})?)=(.*)$/s.exec(given) ?? [];
  if (tag === undefined || text === undefined) {
    throw new InvalidArgumentError('it is a language and its text, as en="Your subscription …"');
  }
  return { ...before, [tag.toLowerCase().replace('_', '-')]: text };
}

const given = ({ enabled, pushText }: SetOptions) => ({
  ...(enabled !== undefined && { enabled: enabled === 'yes' ? (1 as const) : (0 as const) }),
  ...(pushText !== undefined && { pushText }),
});

const FIGURES = 'End and traffic of subscriptions were not kept before, and are kept from now on.';
const saidOf = (done: string, hasBegunFigures: boolean) =>
  [done, ...(hasBegunFigures ? [FIGURES] : [])].join('\n');

interface AddOptions extends SetOptions {
  defaults?: true;
}

async function addAll(context: CliContext, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  const added = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    return granted(await make('reminders.defaults', { core, nowMs, provider }, {}), provider.code);
  });
  const names = added.map((one) => `${one.id} (${one.kind} ${amountText(one)})`);
  const text =
    added.length === 0
      ? 'all default reminders are there'
      : `added, switched off: ${names.join(', ')}\nSwitch one on: gatepost reminder set ID --enabled yes`;
  print(context, options, { ids: added.map(({ id }) => id) }, text);
}

async function add(
  context: CliContext,
  kind: ReminderKind | undefined,
  amount: string | undefined,
  { defaults, ...options }: AddOptions,
): Promise<void> {
  if (defaults) return addAll(context, options);
  const { text: texts } = options;
  if (kind === undefined || amount === undefined || texts === undefined) {
    throw new UsageError('give a kind, an amount and --text, or --defaults');
  }
  const nowMs = context.nowMs();
  const own = { kind, amount: amountIn(kind, amount), texts, ...given(options) };
  const { hasBegunFigures, reminder } = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    return granted(await make('reminders.add', { core, nowMs, provider }, own), provider.code);
  });
  const { id } = reminder;
  const state = reminder.enabled ? 'switched on' : 'switched off';
  const text = saidOf(`reminder ${id} added, ${state}`, hasBegunFigures);
  print(context, options, { id, figures_begun: hasBegunFigures }, text);
}

/** Returns texts with those that are given; an empty one goes. */
function changed(known: ReminderTexts, texts: Record<string, string>): ReminderTexts {
  const all = Object.entries({ ...known, ...texts });
  return Object.fromEntries(all.filter(([, text]) => text !== ''));
}

async function set(
  context: CliContext,
  id: number,
  { amount, text, ...options }: SetOptions & { amount?: string },
): Promise<void> {
  const own = given(options);
  if (amount === undefined && text === undefined && Object.keys(own).length === 0) {
    throw new UsageError('nothing to change: give --amount, --text, --push-text or --enabled');
  }
  const nowMs = context.nowMs();
  const { hasBegunFigures } = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const known = await core.store.findReminder(provider.id, id);
    const change = {
      id,
      ...own,
      ...(known && amount !== undefined && { amount: amountIn(known.kind, amount) }),
      ...(known && text !== undefined && { texts: changed(known.texts, text) }),
    };
    const saved = await make('reminders.set', { core, nowMs, provider }, change);
    return granted(saved, id);
  });
  const said = saidOf(`reminder ${id} changed`, hasBegunFigures);
  print(context, options, { id, done: 'changed', figures_begun: hasBegunFigures }, said);
}

async function list(context: CliContext, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  const reminders = await withCore(context, options, async (core) => {
    const owned = await listOwned(core, options, async (providerId) =>
      core.store.listReminders(providerId),
    );
    // The filter of HTML takes long to start.
    const { reminderState, textsUsedFromMs } = await import('../core/reminder.ts');
    return Promise.all(
      owned.map(async ({ providerCode, ...one }) => {
        const provider = await core.store.findProvider(providerCode ?? '');
        return {
          provider_code: providerCode,
          id: one.id,
          kind: one.kind,
          amount: one.amount,
          state: provider === null ? 'off' : reminderState(one, provider, nowMs),
          push_text: one.pushText,
          texts: one.texts,
          texts_from: provider && showTimeOrNull(textsUsedFromMs(one, provider, nowMs)),
          created_at: showTime(one.createdAtMs),
        };
      }),
    );
  });
  printTable(context, options, reminders, {
    ID: 'id',
    PROVIDER: ownerName,
    KIND: 'kind',
    AMOUNT: amountText,
    STATE: 'state',
    LANGUAGES: ({ texts }) => Object.keys(texts).join(','),
    TEXT: ({ texts }) => shownText(texts),
  });
  for (const { id, texts_from: from } of options.json ? [] : reminders) {
    if (from === null) continue;
    context.stderr(
      `An API key wrote the text of reminder ${id}: it is used from ${from}, or after 'gatepost reminder confirm'.\n`,
    );
  }
}

/** The most characters of a text in the list. */
const TEXT_SHOWN = 48;

function shownText(texts: ReminderTexts): string {
  const text = visible(plainText(Object.values(texts)[0] ?? ''));
  return text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN - 1)}…` : text;
}

async function remove(context: CliContext, id: number, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    granted(await make('reminders.remove', { core, nowMs, provider }, { id }), id);
  });
  print(context, options, { id, done: 'removed' }, `reminder ${id} removed`);
}

async function confirm(context: CliContext, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const given = { untilMs: nowMs };
    granted(await make('reminders.confirm', { core, nowMs, provider }, given), provider.code);
  });
  const text = 'what API keys changed of texts and addresses until now is used from now on';
  print(context, options, { done: 'confirmed' }, text);
}

const addSetOptions = (command: Command) =>
  command
    .option(
      '--text <language=text>',
      'the text of a language, with placeholders if you like; may be repeated',
      textValue,
    )
    .addOption(
      new Option(
        '--push-text <text>',
        'what a push shows: that there is news (neutral), or the text itself (full)',
      ).choices([...PUSH_TEXTS]),
    )
    .addOption(
      new Option(
        '--enabled <answer>',
        'whether it is sent; yes also keeps figures of subscriptions',
      ).choices(['yes', 'no']),
    )
    .option(...PROVIDER);

export function addReminderCommands(program: Command, context: CliContext): void {
  const reminder = program
    .command('reminder')
    .description('remind customers whose subscription ends or whose traffic runs out');

  reminder
    .command('list')
    .description('list the reminders of all providers, or of one')
    .option(...OF_PROVIDER)
    .action((options: Options) => list(context, options));

  addSetOptions(
    reminder
      .command('add')
      .description('add a reminder, switched off unless --enabled yes')
      .addArgument(
        new Argument(
          '[kind]',
          'before the end, after it, by used traffic, or without an update',
        ).choices([...REMINDER_KINDS]),
      )
      .argument(
        '[amount]',
        '3d or 12h before the end, 1d after it, 80% of the traffic, 14d without an update',
        amountValue,
      )
      .option('--defaults', 'add the five default reminders in four languages, switched off'),
  ).action((kind: ReminderKind | undefined, amount: string | undefined, options: AddOptions) =>
    add(context, kind, amount, options),
  );

  addSetOptions(
    reminder
      .command('set')
      .description('change a reminder; an empty --text removes a language')
      .argument('<reminder>', 'the id of the reminder', reminderIdValue)
      .option('--amount <amount>', 'another amount, as 2d', amountValue),
  ).action((id: number, options: SetOptions) => set(context, id, options));

  reminder
    .command('remove')
    .description('remove a reminder; what was sent stays sent')
    .argument('<reminder>', 'the id of the reminder', reminderIdValue)
    .option(...PROVIDER)
    .action((id: number, options: Options) => remove(context, id, options));

  reminder
    .command('confirm')
    .description('use now, not after 24 hours, what API keys changed of texts and addresses')
    .option(...PROVIDER)
    .action((options: Options) => confirm(context, options));

  addRoundCommands(reminder, context);
}

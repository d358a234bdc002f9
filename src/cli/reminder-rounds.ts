/** `gatepost reminder rounds` and `resume`: what reminders sent, and whether they go on. */

import type { Command } from 'commander';
import { DAY_MS } from '../core/calendar.ts';
import { counted } from '../core/counted.ts';
import type { Round } from '../core/port/reminding.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { make } from './make.ts';
import { PROVIDER, type ProviderOptions, providerOf } from './provider-name.ts';
import { granted } from './refusal.ts';
import { amountText } from './reminder-amount.ts';
import { reminderIdValue, showTime } from './values.ts';

type Options = CommonOptions & ProviderOptions;

function view({ amount, kind, ...round }: Round) {
  return {
    id: round.id,
    day: new Date(round.day * DAY_MS).toISOString().slice(0, 10),
    reminder_id: round.reminderId,
    kind,
    amount,
    devices: round.recipientCount,
    got: round.gotCount,
    ended: round.endedCount,
    failed: round.failedCount,
  };
}

async function list(
  context: CliContext,
  { beforeId, ...options }: Options & { beforeId?: number },
): Promise<void> {
  const nowMs = context.nowMs();
  const { nextId, rounds, standing } = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const page = beforeId === undefined ? {} : { beforeId };
    return make('reminders.rounds', { core, nowMs, provider }, page);
  });
  printTable(context, options, rounds.map(view), {
    ID: 'id',
    'DAY (UTC)': 'day',
    REMINDER: ({ amount, kind, reminder_id: of }) =>
      kind === null || amount === null
        ? `${of} (removed)`
        : `${kind} ${amountText({ kind, amount })}`,
    DEVICES: 'devices',
    GOT: 'got',
    ENDED: 'ended',
    FAILED: 'failed',
  });
  const { stoppedAtMs, stoppedLinks, stoppedMoved } = standing;
  if (stoppedAtMs !== null) {
    const moved = `${counted(stoppedMoved ?? 0, 'link')} of ${stoppedLinks} renewed or began to end within an hour`;
    context.stderr(
      `reminders stopped at ${showTime(stoppedAtMs)}: ${moved}. Look at the panel, then run 'gatepost reminder resume'.\n`,
    );
  }
  if (nextId !== null) context.stderr(`--before-id ${nextId} lists the rounds before them\n`);
}

async function resume(context: CliContext, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  const { hasResumed } = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    return granted(await make('reminders.resume', { core, nowMs, provider }, {}), provider.code);
  });
  const text = hasResumed ? 'reminders go on' : 'reminders had not stopped';
  print(context, options, { resumed: hasResumed }, text);
}

export function addRoundCommands(reminder: Command, context: CliContext): void {
  reminder
    .command('rounds')
    .description('list what reminders sent, one line for a reminder and a UTC day, newest first')
    .option('--before-id <id>', 'only rounds before this one', reminderIdValue)
    .option(...PROVIDER)
    .action((options: Options & { beforeId?: number }) => list(context, options));

  reminder
    .command('resume')
    .description('let reminders go on that stopped because many links moved at once')
    .option(...PROVIDER)
    .action((options: Options) => resume(context, options));
}

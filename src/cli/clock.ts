/** `gatepost clock …`: leaps of the clocks of machines that serve. */

import type { Command } from 'commander';
import { isSuspended, leadText } from '../core/leap.ts';
import type { KeptTime } from '../core/port/time.ts';
import { trustClocks } from '../core/timekeeper.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { table } from './table.ts';
import { showTime } from './values.ts';

function view(time: KeptTime) {
  const { atMs, leap, name } = time;
  return {
    machine: name || 'this',
    steady_time: showTime(atMs),
    lead_seconds: leap === null ? 0 : Math.round(leap.leadMs / 1000),
    state: leap === null ? 'the clock has not leapt' : leadText(leap.leadMs),
    deletion: isSuspended(time) ? 'suspended' : 'goes on',
  };
}

async function show(context: CliContext, options: CommonOptions): Promise<void> {
  const times = await withCore(context, options, async ({ store }) => store.listTimes());
  const shown = times.map(view);
  const columns = { 'steady time': 'steady_time', clock: 'state', deletion: 'deletion' } as const;
  print(context, options, shown, table(shown, { machine: 'machine', ...columns }));
}

async function trust(context: CliContext, options: CommonOptions): Promise<void> {
  const count = await withCore(context, options, (core) => trustClocks(core, context.nowMs()));
  const text =
    count === 0
      ? 'No clock has leapt.'
      : 'The clock is taken for right. A running server deletes by it within seconds.';
  print(context, options, { trusted: count }, text);
}

export function addClockCommands(program: Command, context: CliContext): void {
  const clock = program.command('clock').description('show and confirm clocks that leapt');
  clock
    .command('show')
    .description('show how far the clock is from the time that a steady clock counts')
    .action((options: CommonOptions) => show(context, options));
  clock
    .command('trust')
    .description('take a clock that leapt for right, so that deletion goes on at once')
    .action((options: CommonOptions) => trust(context, options));
}

/** `gatepost move-database`: moves all data from the file into PostgreSQL, or back. */

import type { Command } from 'commander';
import type { MoveReport } from '../store/move/job.ts';
import { type CliContext, type CommonOptions, print, settingsFor } from './context.ts';
import { Progress } from './progress.ts';
import { untilInterrupted } from './signals.ts';
import { sheet } from './table.ts';

interface MoveOptions extends CommonOptions {
  to: string;
  check?: boolean;
  force?: boolean;
}

/** The target that is the data directory. */
const BACK = 'sqlite';

const STEPS: Readonly<Record<string, string>> = {
  indexes: 'the rows are copied; creating indexes',
  checks: 'comparing both databases',
  marking: 'all data is copied; marking the old database as moved',
};

async function moveDatabase(context: CliContext, options: MoveOptions): Promise<void> {
  const config = settingsFor(context, options);
  const move = await context.moveOf(config, options.to);
  const progress = new Progress(context, 'rows');
  const isCheck = options.check === true;
  try {
    const report = await untilInterrupted((signal) =>
      move({
        isCheck,
        isForced: options.force === true,
        act: { actor: context.operator(), atMs: context.nowMs() },
        auditBounds: config,
        onRows: (done, total) => progress.show(done, total),
        onStep: (step) => progress.note(STEPS[step] ?? step),
        signal,
      }),
    );
    progress.clear();
    printReport(context, options, report);
  } finally {
    progress.clear();
  }
}

function printReport(
  context: CliContext,
  options: MoveOptions,
  { rows, audit, wasFinished, kept }: MoveReport,
): void {
  const isBack = options.to === BACK;
  const isCheck = options.check === true;
  const { head, problem } = audit;
  const facts = {
    to: isBack ? 'sqlite' : 'postgres',
    moved: !isCheck,
    rows,
    audit: { entries: audit.count, head, problem },
    kept,
  };
  const filled = Object.entries(rows).filter(([, count]) => count > 0);
  const heading = isCheck
    ? 'all data can move'
    : wasFinished
      ? 'all data had moved already; the new database is in use'
      : 'all data moved';
  const next = isBack
    ? 'remove database.url and start the server'
    : 'set database.url and start the server';
  const text = sheet({
    rows: filled.map(([table, count]) => `${table} ${count}`).join(', '),
    audit: problem === null ? `verified up to ${head ?? 'its beginning'}` : `as before: ${problem}`,
    ...(kept === null ? {} : { kept }),
    ...(isCheck ? {} : { next }),
  });
  print(context, options, facts, `${heading}\n${text}`);
}

export function addMoveCommand(program: Command, context: CliContext): void {
  program
    .command('move-database')
    .description('move all data into PostgreSQL, or back; no server may run')
    .requiredOption(
      '--to <url>',
      'postgres://USER@HOST/DATABASE; sqlite: back into the data directory',
    )
    .option('--check', 'only check whether the data can move; a server may run')
    .option('--force', 'overwrite the data that an earlier move left in that PostgreSQL')
    .action((options: MoveOptions) => moveDatabase(context, options));
}

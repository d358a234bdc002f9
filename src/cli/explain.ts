/** `gatepost explain`: the meaning of a code, wherever it was seen. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type CliContext, type CommonOptions, printTable } from './context.ts';

/** Returns a text without case, blanks at the ends and a full stop. */
const bare = (text: string) => text.trim().toLowerCase().replace(/\.$/, '');

async function explain(context: CliContext, code: string | undefined, options: CommonOptions) {
  const all = await context.explanations();
  const wanted = bare(code ?? '');
  const found = all.filter(
    (one) =>
      code === undefined || [one.code, ...(one.texts ?? [])].some((text) => bare(text) === wanted),
  );
  if (found.length === 0) {
    const near = context.nearestText(wanted, [...new Set(all.map((one) => one.code))]);
    throw new OperatorError(
      `nothing has the code '${code}'${near}: 'gatepost explain' lists all`,
      'code_not_found',
    );
  }
  const rows = found.map(({ kind, code: name, about }) => ({ kind, code: name, meaning: about }));
  printTable(context, options, rows, { OF: 'kind', CODE: 'code', MEANING: 'meaning' });
}

export function addExplainCommand(program: Command, context: CliContext): void {
  program
    .command('explain')
    .description(
      'say what a code means: of an error, answer, log event, metric, audit action, finding, exit',
    )
    .argument('[code]', 'the code, or the text of an answer or of x-error-detail; all if omitted')
    .action((code: string | undefined, options: CommonOptions) => explain(context, code, options));
}

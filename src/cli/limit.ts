/** Lists with a limit, and the note that there is more. */

import { type Command, Option } from 'commander';
import type { CliContext } from './context.ts';
import { countValue } from './values.ts';

export interface LimitOptions {
  limit: number;
  all?: boolean;
}

/** The default of `--limit`. */
const LIMIT = 50;

/** Adds `--limit`, described by `about`, and `--all`. */
export function addLimit(command: Command, about = 'at most so many'): Command {
  return command
    .option('--limit <number>', about, countValue, LIMIT)
    .addOption(new Option('--all', 'without a limit').conflicts('limit'));
}

/** The most rows to show. */
export function countMaxOf({ limit, all }: LimitOptions): number {
  return all ? Number.MAX_SAFE_INTEGER : limit;
}

/**
 * Notes on stderr, where no program takes it for a record, that the list of `nouns` goes on.
 * `total` null: nobody counted, but there are more.
 */
export function noteRest(
  context: CliContext,
  shown: number,
  total: number | null,
  nouns: string,
): void {
  if (total !== null && total <= shown) return;
  const of = total === null ? `the first ${shown} ${nouns}` : `${shown} of ${total} ${nouns}`;
  context.stderr(`${of}: --all or --limit shows more\n`);
}

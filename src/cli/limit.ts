/** Lists with a limit. */

import { type Command, Option } from 'commander';
import { counted } from '../core/counted.ts';
import type { CliContext } from './context.ts';
import { countValue } from './values.ts';

export interface LimitOptions {
  limit: number;
  all?: boolean;
}

/** Adds `--limit`, with `about` as its help, and `--all`. */
export function addLimit(command: Command, about = 'the most rows to show'): Command {
  return command
    .option('--limit <number>', about, countValue, 50)
    .addOption(new Option('--all', 'without a limit').conflicts('limit'));
}

/** Returns the most rows to show. */
export function countMaxOf({ limit, all }: LimitOptions): number {
  return all ? Number.MAX_SAFE_INTEGER : limit;
}

/**
 * Notes on stderr that the list of records, each a `noun`, is longer. `total` null: by an unknown
 * number.
 */
export function noteRest(
  context: CliContext,
  shown: number,
  total: number | null,
  noun: string,
  nouns = `${noun}s`,
): void {
  if (total !== null && total <= shown) return;
  const of = total === null ? 'the first' : `${shown} of`;
  context.stderr(`${of} ${counted(total ?? shown, noun, nouns)}: --all or --limit shows more\n`);
}

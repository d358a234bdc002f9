/** Rounds: lists of calls without a repeated key, for steps that take each key once. */

import type { Step } from './backend.ts';

/**
 * Runs `run` on as few rounds as may be, in turn; items of one key keep their order.
 *
 * @example yield* inRounds(calls, ({ hwid }) => hwid, (round) => admit(round));
 */
export function* inRounds<Item, Answer>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
  run: (round: readonly Item[]) => Step<readonly Answer[]>,
): Step<Answer[]> {
  const rounds: number[][] = [];
  const roundOf = new Map<string | number, number>();
  for (const [n, item] of items.entries()) {
    const key = keyOf(item);
    const round = roundOf.get(key) ?? 0;
    roundOf.set(key, round + 1);
    rounds[round] ??= [];
    rounds[round].push(n);
  }
  const answers = new Array<Answer>(items.length);
  for (const round of rounds) {
    const own = yield* run(round.map((n) => items[n] as Item));
    for (const [at, n] of round.entries()) answers[n] = own[at] as Answer;
  }
  return answers;
}

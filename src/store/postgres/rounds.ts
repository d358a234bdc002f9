/**
 * Rounds of statements that take each key once, such as an upsert: a repeated key goes into the
 * next round.
 */

import { roundsOf } from '../rounds.ts';

/**
 * Runs `run` on as few lists of items with different keys as possible, in turn; returns all
 * answers.
 */
export async function inRounds<Item, Answer>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
  run: (round: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers = new Array<Answer>(items.length);
  for (const round of roundsOf(items, keyOf)) {
    const own = await run(round.map((n) => items[n] as Item));
    round.forEach((n, at) => {
      answers[n] = own[at] as Answer;
    });
  }
  return answers;
}

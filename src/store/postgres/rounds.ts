/** Statements that take each key once, such as an upsert: what has a key again goes in another. */

/** Runs `run` on as few lists of items with different keys as may be, in turn; all answers. */
export async function inRounds<Item, Answer>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
  run: (round: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const rounds: number[][] = [];
  const roundOf = new Map<string | number, number>();
  items.forEach((item, n) => {
    const key = keyOf(item);
    const round = roundOf.get(key) ?? 0;
    roundOf.set(key, round + 1);
    rounds[round] ??= [];
    rounds[round].push(n);
  });
  const answers = new Array<Answer>(items.length);
  for (const round of rounds) {
    const own = await run(round.map((n) => items[n] as Item));
    round.forEach((n, at) => {
      answers[n] = own[at] as Answer;
    });
  }
  return answers;
}

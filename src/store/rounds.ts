/** Rounds: lists of calls without a repeated key, for steps that take each key once. */

/** Returns the indices of items in as few rounds as possible; items of one key keep their order. */
export function roundsOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
): number[][] {
  const rounds: number[][] = [];
  const roundOf = new Map<string | number, number>();
  items.forEach((item, n) => {
    const key = keyOf(item);
    const round = roundOf.get(key) ?? 0;
    roundOf.set(key, round + 1);
    rounds[round] ??= [];
    rounds[round].push(n);
  });
  return rounds;
}

/** A judge of races: is there an order of the calls that explains every answer? */

/** Something simple that does one call after the other. */
export interface Model<State> {
  start: State;
  /** The answer that the nth call of a round gets, and the state after it. */
  step(state: State, n: number): readonly [answer: unknown, after: State];
}

/**
 * Looks for an order in which the model gives each call its answer and ends as it is `isEnd`.
 * `goesBefore` says which calls were answered before others began.
 */
export function hasOrder<State>(
  { start, step }: Model<State>,
  answers: readonly unknown[],
  isEnd: (state: State) => boolean,
  goesBefore: (one: number, other: number) => boolean = () => false,
): boolean {
  const hopeless = new Set<string>();
  function isExplained(state: State, left: readonly number[]): boolean {
    if (left.length === 0) return isEnd(state);
    const key = JSON.stringify([state, left]);
    if (hopeless.has(key)) return false;
    const isFound = left.some((n) => {
      if (left.some((other) => other !== n && goesBefore(other, n))) return false;
      const [answer, after] = step(state, n);
      const rest = left.filter((other) => other !== n);
      return Bun.deepEquals(answer, answers[n]) && isExplained(after, rest);
    });
    if (!isFound) hopeless.add(key);
    return isFound;
  }
  return isExplained(start, [...answers.keys()]);
}

/**
 * The beliefs of an outsider about things that a server stores, when some of its requests got no
 * answer: such a change may have happened or not. An answered one has happened, kill or no kill.
 */
export class Beliefs<State> {
  readonly #possible = new Map<string, Set<State>>();

  /** Answered: it is so. */
  is(thing: string, state: State): void {
    this.#possible.set(thing, new Set([state]));
  }

  /** Notes a change without an answer: it may be so now, or be as it was (`before`, if unknown). */
  maybe(thing: string, state: State, before: State): void {
    const possible = this.#possible.get(thing) ?? new Set([before]);
    this.#possible.set(thing, possible.add(state));
  }

  /** Compares with what is there in the end; one sentence for each thing that cannot be so. */
  problems(actual: (thing: string) => State): string[] {
    return [...this.#possible].flatMap(([thing, possible]) => {
      const found = actual(thing);
      if (possible.has(found)) return [];
      return [`${thing} is ${found}, but must be ${[...possible].join(' or ')}`];
    });
  }

  /** The number of things that are known for certain. */
  get certainCount(): number {
    return [...this.#possible.values()].filter((possible) => possible.size === 1).length;
  }
}

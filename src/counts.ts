/**
 * Counts that the parts of the process keep for the monitor: plain numbers, so that counting costs
 * nanoseconds and the monitor alone knows how they are shown.
 */

/** Counts of a few things by their names, since the start. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** Begins each of `names` with 0: an alert on a rise then sees the first one. */
  constructor(names: readonly string[] = []) {
    for (const name of names) this.#counts.set(name, 0);
  }

  add(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  entries(): Iterable<readonly [name: string, count: number]> {
    return this.#counts.entries();
  }
}

/** Distribution of values: counts of those at most as large as each of some bounds. */
export class Histogram {
  /** Counts of the values up to each bound and above the one before; the last is of the rest. */
  readonly counts: number[];
  sum = 0;

  /** Takes `bounds` in ascending order. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    counts[at] = (counts[at] as number) + 1;
    this.sum += value;
  }
}

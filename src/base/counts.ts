/** Counts for the monitor: plain numbers, so that counting costs nanoseconds. */

/** Counts by name, since the start. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** Begins each of `names` with 0, so that an alert on an increase sees the first one. */
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

/** A distribution of values. */
export class Histogram {
  /** Counts of the values up to each bound and above the previous one; last, the rest. */
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

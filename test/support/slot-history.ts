/**
 * Judges from outside whether a link kept its promise, without knowing in which order concurrent
 * requests took effect. A request takes effect at some instant between its start and its answer,
 * so a HWID was *certainly* on the link from the answer that let it in to the start of its
 * deletion, and *possibly* from the start of the former to the end of the latter. At no instant
 * may more HWIDs than the limit have been on the link for certain; and a refusal is right only if
 * at some instant between its start and its answer the link may have been full.
 */

export interface Call {
  startMs: number;
  endMs: number;
}

interface Stay {
  possiblyFromMs: number;
  certainlyFromMs: number;
  certainlyToMs: number;
  possiblyToMs: number;
}

export class SlotHistory {
  readonly #limit: number;
  /** Stays that may not have ended, by HWID. */
  readonly #open = new Map<string, Stay>();
  readonly #stays: Stay[] = [];
  readonly refusals: Call[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The calls about one HWID must be recorded in their order and must not overlap. */
  admitted(hwid: string, call: Call): void {
    if (this.#open.has(hwid)) return;
    const stay = {
      possiblyFromMs: call.startMs,
      certainlyFromMs: call.endMs,
      certainlyToMs: Number.POSITIVE_INFINITY,
      possiblyToMs: Number.POSITIVE_INFINITY,
    };
    this.#open.set(hwid, stay);
    this.#stays.push(stay);
  }

  deleted(hwid: string, call: Call): void {
    const stay = this.#open.get(hwid);
    if (!stay) return;
    stay.certainlyToMs = call.startMs;
    stay.possiblyToMs = call.endMs;
    this.#open.delete(hwid);
  }

  refused(hwid: string, call: Call): string | null {
    this.refusals.push(call);
    return this.#open.has(hwid) ? `${hwid} was refused while it held a slot` : null;
  }

  /** HWIDs that must be on the link now. */
  present(): string[] {
    return [...this.#open.keys()].sort();
  }

  /** The breaches, one sentence each; call it when everything has been answered. */
  problems(): string[] {
    const found: string[] = [];
    const certain = steps(this.#stays.map((stay) => [stay.certainlyFromMs, stay.certainlyToMs]));
    const most = Math.max(0, ...certain.map(([, count]) => count));
    if (most > this.#limit) found.push(`${most} HWIDs at once on a link of ${this.#limit}`);
    const possible = steps(this.#stays.map((stay) => [stay.possiblyFromMs, stay.possiblyToMs]));
    for (const { startMs, endMs } of this.refusals) {
      const mostThen = highest(possible, startMs, endMs);
      if (mostThen < this.#limit) {
        found.push(`refused while at most ${mostThen} of ${this.#limit} slots were taken`);
      }
    }
    return found;
  }
}

/** The number of intervals that hold, from each instant at which it changes. */
function steps(intervals: (readonly [number, number])[]): [number, number][] {
  const changes = intervals
    .filter(([from, to]) => from <= to)
    .flatMap(([from, to]): [number, number][] => [
      [from, 1],
      [to, -1],
    ])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let count = 0;
  return changes.map(([atMs, by]) => {
    count += by;
    return [atMs, count];
  });
}

/** The highest count that holds at some instant from `fromMs` to `toMs`. */
function highest(counts: [number, number][], fromMs: number, toMs: number): number {
  let most = 0;
  let last = 0;
  for (const [atMs, count] of counts) {
    if (atMs > toMs) break;
    if (atMs < fromMs) last = count;
    else most = Math.max(most, count);
  }
  return Math.max(most, last);
}

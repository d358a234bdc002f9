/** What a run of the fuzzer has done and found. */

import { Random } from '../support/random.ts';
import { caseSeed } from './grammar.ts';

export interface Fault {
  surface: string;
  number: number;
  /** One sentence. */
  says: string;
  /** What was sent or run, as far as it can be shown. */
  input: string;
}

/** After so many faults there is nothing new to learn before some are mended. */
const FAULTS_MAX = 20;
const INPUT_SHOWN_MAX = 2_000;

export class Campaign {
  readonly faults: Fault[] = [];
  /** How many cases there were on each surface. */
  readonly counts = new Map<string, number>();
  /** What came back, by surface: to see that cases get further than the first check. */
  readonly answers = new Map<string, number>();
  readonly #endMs: number;

  constructor(
    readonly seed: number,
    seconds: number,
    /** Told at once: a long run may be ended before its end. */
    private readonly onFault: (fault: Fault) => void = () => {},
  ) {
    this.#endMs = performance.now() + seconds * 1000;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs || this.faults.length >= FAULTS_MAX;
  }

  get leftMs(): number {
    return Math.max(this.#endMs - performance.now(), 0);
  }

  /** The next case of a surface, with chance of its own. */
  next(surface: string): { number: number; random: Random } {
    const number = (this.counts.get(surface) ?? 0) + 1;
    this.counts.set(surface, number);
    return { number, random: new Random(caseSeed(this.seed, surface, number)) };
  }

  saw(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  fault(surface: string, number: number, says: string, input: string | Uint8Array = ''): void {
    const text = typeof input === 'string' ? input : JSON.stringify(latin1(input));
    const found = { surface, number, says, input: text.slice(0, INPUT_SHOWN_MAX) };
    this.faults.push(found);
    this.onFault(found);
  }

  /** One line. */
  progress(): string {
    const done = [...this.counts].map(([surface, count]) => `${count} ${surface}`).join(', ');
    return `${done}; ${this.faults.length} faults`;
  }
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** Settles as `work` does, or with null when `ms` are over. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

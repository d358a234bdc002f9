/**
 * Calls of a turn that share their statements, for example of devices that acknowledge a message to
 * all. Calls that arrive during a commit wait for it and then share the next one.
 */

import { WriteFailed } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Notes, WriteInTurn } from '../backend.ts';
import { inRounds } from '../rounds.ts';
import { runNow } from './dialect.ts';
import type { GroupWriter } from './writer.ts';

/** Most work of the calls of one write, unless it is a single call: others wait for it. */
const SIZE_MAX = 128;

interface Waiting<Call, Result> {
  call: Call;
  resolve: (result: Result) => void;
  reject: (fault: unknown) => void;
}

/** The calls of one kind. */
export class Together<Call, Result> {
  readonly #waiting: Waiting<Call, Result>[] = [];
  /** Settles when no call waits; null: no call waits now. */
  #running: Promise<void> | null = null;

  constructor(
    private readonly writer: GroupWriter,
    private readonly notes: Notes,
    private readonly steps: WriteInTurn<Call, Result>,
  ) {}

  ask(call: Call): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Settles when all calls so far were answered. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      await this.#serve(this.#take());
    }
    this.#running = null;
  }

  /** Takes the calls of one write: so a caller with many calls delays others by few commits. */
  #take(): Waiting<Call, Result>[] {
    const { sizeOf } = this.steps;
    let count = 0;
    let size = 0;
    for (const { call } of this.#waiting) {
      size += sizeOf?.(call) ?? 1;
      if (size > SIZE_MAX && count > 0) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Never rejects. An error of one call, such as a broken constraint, fails no other call. */
  async #serve(asked: readonly Waiting<Call, Result>[]): Promise<void> {
    const { steps, writer } = this;
    try {
      const known = steps.answer && runNow(steps.answer(asked.map(({ call }) => call)));
      const left = asked.filter(({ resolve }, n) => {
        const result = known?.[n];
        if (result !== undefined) resolve(result);
        return result === undefined;
      });
      if (left.length === 0) return;
      const calls = left.map(({ call }) => call);
      const results = await writer.run(() => {
        runNow(steps.begin(calls));
        return runNow(inRounds(calls, steps.keyOf, (round) => steps.run(this.notes, round)));
      });
      for (const [n, { resolve }] of left.entries()) resolve(results[n] as Result);
    } catch (fault) {
      if (asked.length === 1 || fault instanceof WriteFailed) {
        for (const { reject } of asked) reject(fault);
      } else {
        for (const one of asked) await this.#serve([one]);
      }
    }
  }
}

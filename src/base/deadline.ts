/** Deadlines of steps and calls. */

/**
 * The end of a step: its time is over, or the caller aborted.
 *
 * @example
 * const deadline = new Deadline(5_000, caller.signal, clock.steadyMs);
 * return fetch(url, { signal: deadline.signal }).finally(() => deadline.end());
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #endsAtMs: number;
  #isOver = false;

  /** `nowMs` returns the steady time; `outer` is the signal of the caller. */
  constructor(
    ms: number,
    private readonly outer: AbortSignal,
    private readonly nowMs: () => number,
  ) {
    this.#endsAtMs = nowMs() + ms;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, ms);
    if (outer.aborted) this.#controller.abort();
    else outer.addEventListener('abort', this.#stop);
  }

  /** Aborts the step. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns whether the time is over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the remaining time, ms. */
  leftMs(): number {
    return this.#endsAtMs - this.nowMs();
  }

  /** Clears the timer: the step has ended. */
  end(): void {
    clearTimeout(this.#timer);
    this.outer.removeEventListener('abort', this.#stop);
  }

  #stop = (): void => this.#controller.abort();
}

/** Waits for `step`; null: the signal aborted first. */
export async function unlessAborted<T>(signal: AbortSignal, step: Promise<T>): Promise<T | null> {
  if (signal.aborted) {
    // No caller waits for it: an unhandled rejection would end the process.
    step.catch(() => {});
    return null;
  }
  let leave = () => {};
  const left = new Promise<null>((resolve) => {
    leave = () => resolve(null);
    signal.addEventListener('abort', leave);
  });
  try {
    return await Promise.race([step, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The remaining time of a call. */
export interface Countdown {
  /** Returns the remaining time, ms. */
  leftMs(): number;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
}

class Running implements Countdown {
  #controller: AbortController | null = null;
  isOver = false;

  constructor(
    readonly endsAtMs: number,
    readonly reject: (fault: unknown) => void,
    private readonly nowMs: () => number,
  ) {}

  leftMs(): number {
    return this.endsAtMs - this.nowMs();
  }

  /** Made at its first use: few calls wait. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  stop(): void {
    this.isOver = true;
    this.#controller?.abort();
  }
}

/** Deadlines of equal length on one timer, for thousands of calls. */
export class Deadlines {
  /** In the order of their ends. */
  readonly #running = new Set<Running>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `onPassed` is called when deadlines pass, and returns the fault of their calls. */
  constructor(
    private readonly timeMs: number,
    private readonly nowMs: () => number,
    private readonly onPassed: () => unknown,
  ) {}

  /**
   * Runs `work` and settles as it does, or rejects with the fault of `onPassed` when the time is
   * over. Its countdown then aborts, and its outcome is ignored.
   */
  within<T>(work: (countdown: Countdown) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const running = new Running(this.nowMs() + this.timeMs, reject, this.nowMs);
      this.#running.add(running);
      this.#timer ??= setTimeout(this.#check, this.timeMs);
      work(running).then(
        (value) => {
          this.#running.delete(running);
          resolve(value);
        },
        (fault) => {
          this.#running.delete(running);
          reject(fault);
        },
      );
    });
  }

  /** Clears the timer: no call is running. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #check = (): void => {
    this.#timer = null;
    const nowMs = this.nowMs();
    const over: Running[] = [];
    let nextMs: number | null = null;
    for (const running of this.#running) {
      nextMs = running.endsAtMs;
      if (running.endsAtMs > nowMs) break;
      over.push(running);
      nextMs = null;
    }
    for (const running of over) this.#running.delete(running);
    if (nextMs !== null) this.#timer = setTimeout(this.#check, nextMs - nowMs + 1);
    if (over.length === 0) return;
    const fault = this.onPassed();
    for (const running of over) {
      running.stop();
      running.reject(fault);
    }
  };
}

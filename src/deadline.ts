/** The ends of steps: the time is over, or the caller gave up. */

export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #endsAtMs: number;
  #isOver = false;

  /** `nowMs` tells the steady time. */
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

  /** Aborted when the step is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Tells whether it was the time that ended it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The time that is left, ms. */
  leftMs(): number {
    return this.#endsAtMs - this.nowMs();
  }

  /** Has no more to end. */
  end(): void {
    clearTimeout(this.#timer);
    this.outer.removeEventListener('abort', this.#stop);
  }

  #stop = (): void => this.#controller.abort();
}

/** Waits for `step` until the signal is aborted; null: it was. */
export async function unless<T>(signal: AbortSignal, step: Promise<T>): Promise<T | null> {
  if (signal.aborted) {
    // Nobody waits for it, so that its failure would end the process.
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

/** A call among many, with the time that it has in all, whatever it waits for. */
export interface Countdown {
  /** The time that is left, ms. */
  leftMs(): number;
  /** Aborted when the time is over. */
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

  /** Made when it is asked for: few calls wait. */
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

/** Deadlines of one length on one timer, for calls that come by the thousand. */
export class Deadlines {
  /** In the order in which they end, as each has the same time. */
  readonly #running = new Set<Running>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** `onPassed` is called when some have passed, and returns the fault of them all. */
  constructor(
    private readonly timeMs: number,
    private readonly nowMs: () => number,
    private readonly onPassed: () => unknown,
  ) {}

  /**
   * Settles as the promise of `work` does. Rejects with the fault of `onPassed` once the time is
   * over; `work` is told so by its countdown, and its own outcome is dropped.
   */
  within<T>(work: (countdown: Countdown) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const running = new Running(this.nowMs() + this.timeMs, reject, this.nowMs);
      this.#running.add(running);
      this.#timer ??= setTimeout(this.#look, this.timeMs);
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

  /** Ends the timer: no call is under way any more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #look = (): void => {
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
    if (nextMs !== null) this.#timer = setTimeout(this.#look, nextMs - nowMs + 1);
    if (over.length === 0) return;
    const fault = this.onPassed();
    for (const running of over) {
      running.stop();
      running.reject(fault);
    }
  };
}

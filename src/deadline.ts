/** The end of a step: its time is over, or whoever wanted it says so. */

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

import type { Clock } from '../../src/base/clock.ts';

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #nowMs = Date.UTC(2026, 10, 20, 12, 0, 0);
  #steadyMs = this.#nowMs;
  #sleepers: { atMs: number; wake: () => void }[] = [];

  nowMs = (): number => this.#nowMs;

  steadyMs = (): number => this.#steadyMs;

  bootMs = (): number => this.#steadyMs;

  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#sleepers.push({ atMs: this.#steadyMs + ms, wake });
    });

  /** The number of those who wait for the clock to move. */
  get sleeperCount(): number {
    return this.#sleepers.length;
  }

  advance(ms: number): void {
    this.set(this.#nowMs + ms);
  }

  set(nowMs: number): void {
    this.#steadyMs += nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    const due = this.#sleepers.filter((sleeper) => sleeper.atMs <= this.#steadyMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.atMs > this.#steadyMs);
    for (const sleeper of due) sleeper.wake();
  }

  /** Sets the time without any passing: the steady clock stays. */
  leap(ms: number): void {
    this.#nowMs += ms;
  }
}

import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #nowMs = Date.UTC(2026, 10, 20, 12, 0, 0);
  #sleepers: { atMs: number; wake: () => void }[] = [];

  nowMs = (): number => this.#nowMs;

  steadyMs = (): number => this.#nowMs;

  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#sleepers.push({ atMs: this.#nowMs + ms, wake });
    });

  /** The number of those who wait for the clock to move. */
  get sleeperCount(): number {
    return this.#sleepers.length;
  }

  advance(ms: number): void {
    this.set(this.#nowMs + ms);
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
    const due = this.#sleepers.filter((sleeper) => sleeper.atMs <= nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.atMs > nowMs);
    for (const sleeper of due) sleeper.wake();
  }
}

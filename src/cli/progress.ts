import type { CliContext } from './context.ts';

/** Least time between two drawings on a terminal, and between two lines in a log, ms. */
const DRAW_MS = 100;
const LINE_MS = 5_000;
const BAR_WIDTH = 24;

/** The progress of long work on stderr: a line that is redrawn, or a line each 5 s in a log. */
export class Progress {
  readonly #context: CliContext;
  readonly #unit: string;
  readonly #beganMs: number;
  #shownMs: number;
  #isDrawn = false;

  constructor(context: CliContext, unit: string) {
    this.#context = context;
    this.#unit = unit;
    this.#beganMs = context.nowMs();
    this.#shownMs = this.#beganMs;
  }

  /** Shows the progress, unless it was shown too recently; `total` 0: unknown. */
  show(done: number, total: number): void {
    const { isProgressDrawn, nowMs, stderr, terminal } = this.#context;
    const now = nowMs();
    if (now - this.#shownMs < (isProgressDrawn ? DRAW_MS : LINE_MS)) return;
    this.#shownMs = now;
    const seconds = (now - this.#beganMs) / 1000;
    const share = total === 0 ? 0 : Math.min(done / total, 1);
    const left = done === 0 ? '' : `, ${duration((seconds * (total - done)) / done)} left`;
    const text = `${done} of ${total} ${this.#unit}${total > done ? left : ''}`;
    if (isProgressDrawn) {
      const bar = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
      terminal.stderr(`\r\x1b[K[${bar}] ${Math.floor(share * 100)}% ${text}`);
      this.#isDrawn = true;
    } else {
      stderr(`${text}\n`);
    }
  }

  /** Prints a line above the progress. */
  note(text: string): void {
    this.clear();
    this.#context.stderr(`${text}\n`);
  }

  /** Removes the drawn line. */
  clear(): void {
    if (this.#isDrawn) this.#context.terminal.stderr('\r\x1b[K');
    this.#isDrawn = false;
  }
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

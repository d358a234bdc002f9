/** How long calls took, and whether they were answered with what they asked for. */

interface Span {
  startMs: number;
  endMs: number;
  isOk: boolean;
}

export class Recorder {
  /** By their ends. */
  readonly #spans: Span[] = [];

  /** A call that began at `startMs` has ended now. */
  note(startMs: number, isOk: boolean): void {
    this.#spans.push({ startMs, endMs: performance.now(), isOk });
  }

  /** When the first call that began after this moment was answered well; undefined: none yet. */
  okAfter(ms: number): number | undefined {
    return this.#since(ms).find(({ startMs, isOk }) => isOk && startMs >= ms)?.endMs;
  }

  /** Of the calls that ended after this moment. */
  after(ms: number): { ok: number; failed: number; longestMs: number } {
    const spans = this.#since(ms);
    const ok = spans.filter(({ isOk }) => isOk).length;
    const longestMs = spans.reduce(
      (most, { startMs, endMs }) => Math.max(most, endMs - startMs),
      0,
    );
    return { ok, failed: spans.length - ok, longestMs };
  }

  #since(ms: number): Span[] {
    return this.#spans.slice(this.#spans.findLastIndex(({ endMs }) => endMs < ms) + 1);
  }
}

/** How long calls took, and whether they were answered with what they asked for. */

interface Span {
  startMs: number;
  endMs: number;
  isOk: boolean;
  says: string;
}

export class Recorder {
  /** By their ends. */
  readonly #spans: Span[] = [];

  /** A call that began at `startMs` has ended now. */
  note(startMs: number, isOk: boolean, says: string): void {
    this.#spans.push({ startMs, endMs: performance.now(), isOk, says });
  }

  /** When the first call that began after this moment was answered well; undefined: none yet. */
  okAfter(ms: number): number | undefined {
    return this.#since(ms).find(({ startMs, isOk }) => isOk && startMs >= ms)?.endMs;
  }

  /** Of the calls that ended after this moment. */
  after(ms: number): { ok: number; failed: number; longestMs: number; longest: string } {
    const spans = this.#since(ms);
    const ok = spans.filter(({ isOk }) => isOk).length;
    const lasted = ({ startMs, endMs }: Span) => endMs - startMs;
    const [longest] = spans.toSorted((a, b) => lasted(b) - lasted(a));
    return {
      ok,
      failed: spans.length - ok,
      longestMs: longest === undefined ? 0 : lasted(longest),
      longest: longest?.says ?? 'none',
    };
  }

  #since(ms: number): Span[] {
    return this.#spans.slice(this.#spans.findLastIndex(({ endMs }) => endMs < ms) + 1);
  }
}

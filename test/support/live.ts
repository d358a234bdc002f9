/** A page's stream of changes, as a browser reads it. */

import { expect } from 'bun:test';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

export class LivePage {
  /** The events so far. */
  readonly events: unknown[] = [];
  /** True once the server has ended the stream. */
  isEnded = false;
  /** Bytes so far, with beats. */
  text = '';

  private constructor(
    readonly answer: Response,
    private readonly leaving: AbortController,
  ) {}

  static async open(
    app: Pick<TestApp, 'url'>,
    at: string,
    headers: Record<string, string>,
  ): Promise<LivePage> {
    const leaving = new AbortController();
    const answer = await fetch(`${app.url}/console/stream?at=${at}`, {
      headers,
      signal: leaving.signal,
    });
    const page = new LivePage(answer, leaving);
    if (answer.status === 200) void page.#read().catch(() => undefined);
    return page;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.answer.body ?? []) {
        this.text += decoder.decode(bytes, { stream: true });
        const found = this.text.matchAll(/^(?<!event: beat\n)data: (.*)$/gm);
        const all = [...found].map(([, json = '']) => json);
        this.events.splice(0, Infinity, ...all.map((json) => JSON.parse(json)));
      }
    } finally {
      this.isEnded = true;
    }
  }

  /** Moves the clock by seconds, one by one, until `probe` is true. */
  async after(app: TestApp, what: string, probe: () => boolean, stepMs = 1_000): Promise<void> {
    await until(what, () => {
      if (probe()) return true;
      if (app.clock.sleeperCount > 0) app.clock.advance(stepMs);
      return false;
    });
    expect(probe()).toBe(true);
  }

  leave(): void {
    this.leaving.abort();
  }
}

/** The driver of a kit in a process of its own, by lines of JSON: an app that a test can kill. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HASH, LINK } from './shop.ts';
import { until } from './until.ts';

interface Said {
  said: string;
  id: number;
  type: number;
  title: string;
  text: string;
  action: string;
  state: string;
  detail: string;
  reason?: string;
  headers: Record<string, string>;
  ids: number[];
}

/** An app of one phone. Its folder is its store, and outlives a kill. */
export class KitApp {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatepost-kit-'));
  /** All that it said, over restarts. */
  readonly said: Said[] = [];
  /** Is called at once after each line that it says. */
  onSaid = (): void => {};
  #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'> | null = null;

  /** `terms` differ from what is usual in the order `start`; `env` is added to the environment. */
  constructor(
    private readonly command: readonly string[],
    private readonly url: string,
    private readonly terms: Record<string, unknown> = {},
    private readonly env: Record<string, string> = {},
  ) {}

  start(more: Record<string, unknown> = {}): void {
    const child = Bun.spawn([...this.command], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
      env: { ...process.env, ...this.env },
    });
    this.#child = child;
    void this.#listen(child);
    this.say({
      do: 'start',
      url: this.url,
      folder: this.folder,
      link: LINK,
      domain_hash: HASH,
      os: 'android',
      locale: 'en',
      hwid: 'phone',
      pace: 0.02,
      ping: null,
      mode: 'stream',
      push: null,
      transaction: true,
      ...this.terms,
      ...more,
    });
  }

  say(order: Record<string, unknown>): void {
    this.#child?.stdin.write(`${JSON.stringify(order)}\n`);
    void this.#child?.stdin.flush();
  }

  /** Ends it as a phone that lost its power. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#child?.exited;
    this.#child = null;
  }

  /** Closes its input, and returns its exit code. */
  async end(): Promise<number> {
    await this.#child?.stdin.end();
    const code = (await this.#child?.exited) ?? 0;
    this.#child = null;
    return code;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  all(said: string): Said[] {
    return this.said.filter((line) => line.said === said);
  }

  get states(): string[] {
    return this.all('state').map(({ state }) => state);
  }

  /** Waits for the next line of a kind that its order brings. */
  async ask(order: string, said = order): Promise<Said> {
    const before = this.all(said).length;
    this.say({ do: order });
    return await until(`it answers ${order}`, () => this.all(said)[before]);
  }

  async #listen(child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      // A kill may cut the last line in two.
      rest = lines.pop() ?? '';
      for (const line of lines) {
        this.said.push(JSON.parse(line));
        this.onSaid();
      }
    }
  }
}

/** The app under test: a driver that takes orders, or a phone that a developer holds. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

/** The terms of a start, besides the address. */
export interface Terms {
  mode?: 'stream' | 'poll';
  push?: { gateway: string; token: string };
  ping?: number;
  locale?: string;
  /** The most bytes of a frame that the app takes. */
  frameMax?: number;
  /** The answer to a subscription's fetch, in place of a server and a link. */
  subscription?: { url: string; headers: Readonly<Record<string, string>> };
}

interface Handled {
  id: number;
  title: string;
  text: string;
  action: string;
}

export const LINK = 'CheckLink001';
export const DOMAIN_HASH = 'c'.repeat(64);

/** A line of a driver must end before this many characters. */
const LINE_LENGTH_MAX = 1_000_000;
/** The most lines that are no lines of the driver. */
const NOISE_MAX = 10;

/** A driver: one process that reads orders and writes results, as lines of JSON. */
export class Driver {
  readonly handled: Handled[] = [];
  /** The states that the app showed: `open`, `closed`, `ended`, `refused`, `replaced`. */
  readonly states: string[] = [];
  /** The lines in which it showed them. */
  readonly shown: string[] = [];
  /** True: the app found no server in the answer to a subscription's fetch. */
  foundNothing = false;
  /** True: the app's library does not show it the headers of a handshake. */
  isBlind = false;
  headers: Readonly<Record<string, string>> | null = null;
  /** Output that is no line of the driver. */
  readonly noise: string[] = [];
  /** Answers to the order `effects`. */
  answers = 0;
  /** The exit code of a driver that ended by itself; null: it runs, or the check ended it. */
  endedWith: number | null = null;
  #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'> | null = null;
  #hasStopped = false;
  #folder = mkdtempSync(join(tmpdir(), 'gatepost-check-'));

  constructor(
    private readonly command: string,
    private readonly stage: Stage,
    private readonly pace: number,
  ) {}

  /** Starts the app with its store. */
  start(terms: Terms = {}): void {
    const child = Bun.spawn(['sh', '-c', `exec ${this.command}`], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    this.#child = child;
    this.#hasStopped = false;
    void child.exited.then((code) => {
      if (this.#child !== child) return;
      this.endedWith = code;
      this.stage.look();
    });
    void this.#listen(child);
    const { subscription = null } = terms;
    const server = { url: this.stage.url, link: LINK, domain_hash: DOMAIN_HASH };
    const none = { url: null, link: null, domain_hash: null };
    this.say({
      do: 'start',
      ...(subscription === null ? server : none),
      subscription,
      folder: this.#folder,
      os: 'android',
      locale: terms.locale ?? 'en',
      hwid: null,
      pace: this.pace,
      ping: terms.ping ?? null,
      frame_max: terms.frameMax ?? null,
      mode: terms.mode ?? 'stream',
      push: terms.push ?? null,
      transaction: true,
    });
  }

  /** Kills the app as a power loss would, and starts it again. */
  async restart(terms: Terms = {}): Promise<void> {
    await this.kill();
    this.start(terms);
  }

  /** Makes the next start a new installation. */
  async reinstall(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = mkdtempSync(join(tmpdir(), 'gatepost-check-'));
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
    await child?.exited;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  say(order: Readonly<Record<string, unknown>>): void {
    try {
      this.#child?.stdin.write(`${JSON.stringify(order)}\n`);
      void this.#child?.stdin.flush();
    } catch {
      // The driver has ended; the case finds that no answer comes.
    }
  }

  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  async #listen(child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
      for (const line of lines) this.#hear(line);
      this.stage.look();
    }
  }

  #hear(line: string): void {
    if (line.trim() === '') return;
    const said = recordIn(line);
    if (said === null) {
      if (this.noise.length < NOISE_MAX) this.noise.push(line);
      return;
    }
    const text = (name: string) => shownValue(said[name]);
    if (said['said'] === 'message') {
      const { id } = said;
      const texts = { title: text('title'), text: text('text'), action: text('action') };
      this.handled.push({ id: Number(id), ...texts });
    } else if (said['said'] === 'state') {
      this.states.push(text('state'));
      this.shown.push(line);
    } else if (said['said'] === 'nothing') {
      this.foundNothing = true;
    } else if (said['said'] === 'started') {
      this.isBlind = said['handshake'] === false;
    } else if (said['said'] === 'headers') {
      this.headers = Object.fromEntries(
        Object.entries(Object(said['headers'])).map(([name, value]) => [name, shownValue(value)]),
      );
    } else if (said['said'] === 'effects') {
      this.answers += 1;
    } else if (said['said'] === 'stopped') {
      this.#hasStopped = true;
    }
  }
}

/** Returns the object in a line of JSON; null: it has none. */
function recordIn(line: string): Record<string, unknown> | null {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === 'object' && said !== null ? { ...said } : null;
  } catch {
    return null;
  }
}

/** Returns a text as it is, and any other value as JSON. */
const shownValue = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);

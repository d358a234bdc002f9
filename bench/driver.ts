/**
 * The needs of every case of the bench: options, a folder that goes with the process, Gatepost in
 * it, calls, callers in processes of their own, and figures as a table.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { startPostgres } from './peers/postgres.ts';
import {
  onLoadCore,
  onServerCore,
  type Server,
  spawnKept,
  startServer,
  stopAll,
} from './process.ts';
import { authKey, providerCode } from './shape.ts';

export const ROOT = join(import.meta.dir, '..');

/** Settings under which no call is refused for its rate. */
export const NO_LIMITS = {
  GATEPOST_LINKS_PER_PROVIDER_MAX: '1000000000',
  GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000',
  GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
  GATEPOST_SENDS_PER_MINUTE_MAX: '1000000000',
};

export interface Case {
  /** One line: the figures, and when it ends with 1. */
  about: string;
  /** Options with their defaults: a text takes a value, false is a switch. */
  options?: Record<string, string | boolean>;
  /** Programs of the machine that it cannot do without. */
  needs?: readonly string[];
  /** Servers run on any core: several of them share the machine. */
  isSpread?: true;
  /** Prints its figures; answers false if a bound is missed. */
  run(bench: Bench): Promise<boolean | undefined>;
}

type Env = Record<string, string>;
type Chosen = Record<string, string | boolean | undefined>;
/** An answer of the API; a refusal is thrown. */
export interface Said {
  id: number;
  data: { status: number }[];
  device_token: string;
  install_code: string;
}

export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
  readonly #options: Chosen;
  readonly #isSpread: boolean;
  executable: string;
  /** No option was given. */
  readonly isPlain: boolean;

  constructor(of: Case, words: readonly string[]) {
    const defaults = { executable: join(ROOT, 'dist', 'gatepost'), ...of.options };
    const { values } = parseArgs({
      args: [...words],
      options: Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => [
          name,
          typeof value === 'string'
            ? { type: 'string' as const, default: value }
            : { type: 'boolean' as const, default: value },
        ]),
      ),
    });
    this.#options = values as Chosen;
    this.executable = this.text('executable');
    this.isPlain = words.length === 0;
    this.#isSpread = of.isSpread === true;
    process.once('exit', () => {
      stopAll();
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => process.exit(130));
    }
  }

  text = (name: string) => String(this.#options[name] ?? '');
  number = (name: string) => Number(this.#options[name]);
  is = (name: string) => this.#options[name] === true;
  /** Whether `--only` takes this one. */
  takes = (name: string) => this.text('only') === '' || name.includes(this.text('only'));

  /** A fresh folder in that of the bench. */
  place(name: string): string {
    const made = join(this.folder, name);
    mkdirSync(made, { recursive: true });
    return made;
  }

  /** Runs a command of Gatepost, and returns what it prints. */
  command(words: readonly string[], env: Env = {}, executable = this.executable): string {
    const made = Bun.spawnSync([executable, ...words], {
      env: { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none', ...env },
    });
    if (made.exitCode !== 0) throw new Error(`${words.join(' ')}: ${made.stderr.toString()}`);
    return made.stdout.toString();
  }

  /** Adds a provider by a command, which makes the database: by its number, with its key. */
  addProvider(dataDir: string, n = 1, env: Env = {}, executable = this.executable): void {
    const identity = ['--name', 'bench', '--code', providerCode(n), '--key', authKey(n)];
    const words = ['provider', 'add', '--data', dataDir, '--plan', 'enterprise', ...identity];
    this.command([...words, '--max-links', '900000000'], env, executable);
  }

  /** Starts a server without limits of rates. */
  serve(dataDir: string, env: Env = {}, executable = this.executable): Promise<Server> {
    const command = [executable, 'serve', '--port', '0', '--data', dataDir];
    return startServer(this.#isSpread ? command : onServerCore(command), { ...NO_LIMITS, ...env });
  }

  /** Starts PostgreSQL: its address, and itself. */
  async postgres(name = 'postgres') {
    const port = freePort();
    const postgres = await startPostgres(this.place(name), {}, port);
    return { ...postgres, port, url: `postgres://bench@127.0.0.1:${port}/postgres` };
  }

  progress(what: string): void {
    console.error(`bench: ${what}`);
  }
}

/** The query of a provider's calls, by its number. */
export const who = (n = 1) => `provider_code=${providerCode(n)}&auth_key=${authKey(n)}`;

/** Makes a call: a body is posted. Throws for a refusal. */
export async function ask(url: string, body?: unknown, headers: Env = {}): Promise<Said> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = (await (await fetch(url, { ...init, headers })).json()) as Said & { rc: number };
  if (answer.rc !== 1) throw new Error(`${url}: ${JSON.stringify(answer)}`);
  return answer;
}

/** The body of a general notification to all devices of a platform. */
export const notification = (os = 'android') => ({
  PushNotificationForm: {
    title: 'Bench',
    body: 'One for everybody',
    type_push: 'optional',
    expire_days: 7,
  },
  os: [os],
});

/** Does `each` for these numbers, some at a time. */
export async function forAll<T>(
  from: number,
  to: number,
  atATime: number,
  each: (n: number) => Promise<T>,
): Promise<T[]> {
  const made: T[] = [];
  let next = from;
  const lane = async () => {
    for (let n = next++; n < to; n = next++) made[n] = await each(n);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return made;
}

export interface Times {
  count: number;
  p50Ms: number;
  p99Ms: number;
  longestMs: number;
  failed: number;
}

/** Starts another caller on the core of the load: what it noticed since it was asked before. */
export function startCaller(url: string, pace: { perSecond: number } | { pauseMs: number }) {
  const script = join(import.meta.dir, 'caller.ts');
  const words = [process.execPath, script, url, JSON.stringify(pace)];
  const child = spawnKept(onLoadCore(words), {}, 'SIGKILL', 'pipe');
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const times = async (): Promise<Times> => {
    child.stdin.write('\n');
    child.stdin.flush();
    let line = '';
    while (!line.endsWith('\n')) line += (await reader.read()).value ?? '\n';
    return JSON.parse(line);
  };
  return { times, stop: () => child.kill() };
}

/** The value under which this share of sorted ones lies. */
export function share(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export const wallMs = () => performance.timeOrigin + performance.now();

/** Order of a round: the second finds another machine than the first, so they change places. */
export const inTurn = <T>(all: readonly T[], round: number): readonly T[] =>
  round % 2 === 0 ? all : all.toReversed();

export const count = (value: number) => Math.round(value).toLocaleString('en-US');
export const verdict = (isMet: boolean) => (isMet ? 'met' : '**missed**');

type Cell = string | number;
const row = (cells: readonly Cell[]) =>
  `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell)).join(' | ')} |`;

/** Returns a table as Markdown; numbers have one digit behind the point. */
export function table(head: readonly string[], lines: readonly (readonly Cell[])[]): string {
  return [row(head), row(head.map(() => '---')), ...lines.map(row)].join('\n');
}

/** Prints a table line by line, as the figures come. */
export function printTable(head: readonly string[]): (cells: readonly Cell[]) => void {
  console.log(`${row(head)}\n${row(head.map(() => '---'))}`);
  return (cells) => console.log(row(cells));
}

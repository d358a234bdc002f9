/** Reads a panel in a process of its own, whose time and memory are bounded. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import type { FollowLine } from '../core/moving/follow.ts';
import type { Listing } from '../core/moving/follow-user.ts';
import type { PanelUser } from '../core/panel/cells.ts';
import { nextTurn } from '../core/turn.ts';
import { originOf, type PanelJob, type PanelReading } from './panel-read.ts';
import { PANEL_READER, type ReaderInput, type ReaderLine, type ReaderTask } from './reader-line.ts';

/** The longest time without a row, ms: of a file, and of an API, whose calls may take 30 s. */
const QUIET_MS = 20_000;
const QUIET_API_MS = 40_000;
/** Time between two looks at the memory of the process, ms. */
const LOOK_MS = 50;
const MIB = 1024 ** 2;
/** The most characters of a user with its devices. */
const LINE_LENGTH_MAX = 64 * MIB;

type Environment = Readonly<Record<string, string | undefined>>;

interface Watch {
  /** Kills the process. */
  signal: AbortSignal;
  /** The most memory of the process, MiB; the users may take as much here. */
  memoryMaxMib: number;
  onProgress(done: number, total: number): void;
}

export type ReadPanel = (job: PanelJob, watch: Watch) => Promise<PanelReading>;

/** Yields the users of a panel to follow; throws as {@link readPanelInProcess} says. */
export type ReadFollowed = (
  job: PanelJob,
  listing: Listing,
  watch: Watch,
) => AsyncIterable<FollowLine>;

/**
 * Makes a reader that starts this program again; `program` begins its command line, in `env`. It
 * throws {@link OperatorError} with the reason if the process fails or breaks a bound. It removes
 * the temporary folder of the process at any end.
 */
export const readPanelInProcess =
  (program: readonly string[], env: Environment, quietMs: number | null = null): ReadPanel =>
  async (job, watch) => {
    const reader = new Reader(job, watch, quietMs);
    const users: PanelUser[] = [];
    let view = '';
    let length = 0;
    for await (const line of reader.lines(program, env)) {
      length += line.length;
      if (length > watch.memoryMaxMib * MIB) throw reader.overMemory();
      if (line.user !== undefined) users.push(line.user);
      view = line.view ?? view;
    }
    return { users, view };
  };

/** Makes a reader as {@link readPanelInProcess} does, for `follow`: it holds no list of users. */
export const readFollowedInProcess = (program: readonly string[], env: Environment): ReadFollowed =>
  async function* (job, listing, watch) {
    const reader = new Reader({ ...job, isOfUsers: true }, watch, null, listing);
    for await (const { view, listed, isRound } of reader.lines(program, env)) {
      if (view !== undefined) yield { view };
      if (listed !== undefined) yield { listed };
      if (isRound) yield 'round';
    }
  };

class Reader {
  #isWhole = false;
  /** The reason of a kill. */
  #problem: OperatorError | null = null;

  readonly #quietMs: number;

  constructor(
    readonly job: PanelJob,
    readonly watch: Watch,
    quietMs: number | null,
    readonly listing: Listing | null = null,
  ) {
    this.#quietMs = quietMs ?? ('url' in job ? QUIET_API_MS : QUIET_MS);
  }

  /** Yields the lines of a process until the last one, each with its length. */
  async *lines(program: readonly string[], env: Environment) {
    const folder = mkdtempSync(join(tmpdir(), 'gatepost-import-'));
    try {
      yield* this.#linesIn(program, environment(env, folder, this.watch.memoryMaxMib), folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async *#linesIn(program: readonly string[], env: Environment, folder: string) {
    const { job, watch } = this;
    const task: ReaderTask = {
      job: 'url' in job ? { ...job, ...NO_SECRETS } : job,
      folder,
      importPid: process.pid,
    };
    const child = Bun.spawn([...program, PANEL_READER, JSON.stringify(task)], {
      stdin: this.#stdin(),
      stdout: 'pipe',
      stderr: 'ignore',
      env,
    });
    const kill = (problem: OperatorError) => {
      this.#problem ??= problem;
      child.kill('SIGKILL');
    };
    const stop = () => kill(INTERRUPTED);
    const look = setInterval(() => {
      if (memoryMibOf(child.pid) > watch.memoryMaxMib) kill(this.overMemory());
    }, LOOK_MS);
    const quiet = setTimeout(() => kill(this.#tooQuiet()), this.#quietMs);
    watch.signal.addEventListener('abort', stop);
    if (watch.signal.aborted) stop();
    try {
      for await (const text of linesOf(child.stdout)) {
        if (text === null) throw this.overMemory();
        const line = JSON.parse(text) as ReaderLine;
        this.#note(line);
        yield { ...line, length: text.length };
        // The process waits while this side works.
        quiet.refresh();
      }
      await child.exited;
    } catch (error) {
      // A killed process leaves half a line.
      throw this.#problem ?? error;
    } finally {
      clearInterval(look);
      clearTimeout(quiet);
      watch.signal.removeEventListener('abort', stop);
      child.kill('SIGKILL');
      await child.exited;
    }
    if (this.#problem !== null) throw this.#problem;
    if (!this.#isWhole) throw this.#ended(child.signalCode);
  }

  #stdin() {
    const { job, listing } = this;
    if (!('url' in job) && listing === null) return job.path === '-' ? 'inherit' : 'ignore';
    const { token, headers } = 'url' in job ? job : NO_SECRETS;
    const input: ReaderInput = { secrets: { token, headers }, listing };
    return Buffer.from(JSON.stringify(input));
  }

  #note({ progress, failed, isWhole }: ReaderLine): void {
    if (failed !== undefined) throw new OperatorError(failed.message, failed.code);
    if (progress !== undefined) this.watch.onProgress(...progress);
    this.#isWhole = isWhole ?? false;
  }

  overMemory(): OperatorError {
    return new OperatorError(
      `nothing was stored: ${originOf(this.job)} takes more than ${this.watch.memoryMaxMib} MiB of memory to read (--memory allows more)`,
    );
  }

  #tooQuiet(): OperatorError {
    return new OperatorError(
      `nothing was stored: ${originOf(this.job)} gave no row for ${this.#quietMs / 1000} seconds`,
    );
  }

  #ended(signal: string | number | null): OperatorError {
    // Ctrl-C reaches each process of a terminal.
    if (signal === 'SIGINT' || signal === 'SIGTERM') return INTERRUPTED;
    return new OperatorError(
      `nothing was stored: the process that reads ${originOf(this.job)} was ended, perhaps because memory is short`,
    );
  }
}

const NO_SECRETS = { token: '', headers: {} };

/** Adds the folder of the process; makes its runtime collect garbage early. */
const environment = (env: Environment, folder: string, memoryMaxMib: number) => ({
  ...env,
  TMPDIR: folder,
  BUN_JSC_forceRAMSize: String(memoryMaxMib * MIB),
});

const INTERRUPTED = new OperatorError(
  'interrupted: run the same command to continue',
  'interrupted',
);

/** Yields the lines of the process; null: one is too long. */
async function* linesOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    // The next chunk may be here already: other work has a turn.
    await nextTurn();
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    const last = lines.pop() ?? '';
    for (const [at, line] of lines.entries()) {
      yield at === 0 ? rest.join('') + line : line;
      rest = [];
      length = 0;
    }
    rest.push(last);
    length += last.length;
    if (length > LINE_LENGTH_MAX) yield null;
  }
}

/**
 * Returns the memory of a process, MiB; 0 without Linux's files. A limit by the system
 * (RLIMIT_AS) cannot replace the look: the runtime reserves far more addresses than it uses.
 */
function memoryMibOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = [...status.matchAll(/^(?:VmRSS|VmSwap):\s+(\d+) kB$/gm)];
    return kib.reduce((sum, [, size]) => sum + Number(size), 0) / 1024;
  } catch {
    return 0;
  }
}

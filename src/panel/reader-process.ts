/** Reads a panel in a process of its own, whose time and memory are bounded. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import type { PanelUser } from '../core/panel/cells.ts';
import { originOf, type PanelJob, type PanelReading } from './panel-read.ts';
import { PANEL_READER, type ReaderLine, type ReaderTask } from './reader-line.ts';

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

/**
 * Makes a reader that starts this program again; `program` begins its command line, in `env`. It
 * throws {@link OperatorError} with the reason if the process fails or breaks a bound. It removes
 * the temporary folder of the process at any end.
 */
export const readPanelInProcess =
  (program: readonly string[], env: Environment, quietMs: number | null = null): ReadPanel =>
  async (job, watch) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatepost-import-'));
    try {
      const limitMs = quietMs ?? ('url' in job ? QUIET_API_MS : QUIET_MS);
      return await new Reader(job, watch, limitMs).read(
        program,
        environment(env, folder, watch.memoryMaxMib),
        folder,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

class Reader {
  readonly #users: PanelUser[] = [];
  #view = '';
  #isWhole = false;
  #length = 0;
  /** The reason of a kill. */
  #problem: OperatorError | null = null;

  constructor(
    readonly job: PanelJob,
    readonly watch: Watch,
    readonly quietMs: number,
  ) {}

  async read(program: readonly string[], env: Environment, folder: string): Promise<PanelReading> {
    const { job, watch } = this;
    const isApi = 'url' in job;
    const task: ReaderTask = {
      job: isApi ? { ...job, ...NO_SECRETS } : job,
      folder,
      importPid: process.pid,
    };
    const child = Bun.spawn([...program, PANEL_READER, JSON.stringify(task)], {
      stdin: isApi ? secretsOf(job) : job.path === '-' ? 'inherit' : 'ignore',
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
      if (memoryMibOf(child.pid) > watch.memoryMaxMib) kill(this.#overMemory());
    }, LOOK_MS);
    const quiet = setTimeout(() => kill(this.#tooQuiet()), this.quietMs);
    watch.signal.addEventListener('abort', stop);
    if (watch.signal.aborted) stop();
    try {
      for await (const line of linesOf(child.stdout)) {
        quiet.refresh();
        this.#length += line?.length ?? 0;
        if (line === null || this.#length > watch.memoryMaxMib * MIB) throw this.#overMemory();
        this.#take(JSON.parse(line) as ReaderLine);
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
    return { users: this.#users, view: this.#view };
  }

  #take({ progress, view, user, failed, isWhole }: ReaderLine): void {
    if (failed !== undefined) throw new OperatorError(failed.message, failed.code);
    if (progress !== undefined) this.watch.onProgress(...progress);
    if (user !== undefined) this.#users.push(user);
    this.#view = view ?? this.#view;
    this.#isWhole = isWhole ?? false;
  }

  #overMemory(): OperatorError {
    return new OperatorError(
      `nothing was stored: ${originOf(this.job)} takes more than ${this.watch.memoryMaxMib} MiB of memory to read (--memory allows more)`,
    );
  }

  #tooQuiet(): OperatorError {
    return new OperatorError(
      `nothing was stored: ${originOf(this.job)} gave no row for ${this.quietMs / 1000} seconds`,
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
const secretsOf = ({ token, headers }: typeof NO_SECRETS) =>
  Buffer.from(JSON.stringify({ token, headers }));

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

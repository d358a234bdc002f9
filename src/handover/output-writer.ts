/**
 * The process that stays root's to make a file where the owner of the data may write none. It gets
 * the bytes of finished files and opens nothing but the target that root named.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { kindOf } from '../backup/container.ts';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { giveToOwnerOfFolder } from '../base/permissions.ts';
import { giveName } from '../disk/give-name.ts';
import { Scratch } from '../disk/scratch.ts';
import { ownCommand } from '../parts/own-program.ts';
import { type MakingFile, OUTPUT_WRITER } from './output-line.ts';

/** Stands before the bytes of each file, as a line of JSON; the last line has no name. */
interface Head {
  name: string | null;
  bytes: number;
}

export interface Writer {
  /** Hands over finished files by name; a single one has no name. Throws {@link OperatorError}. */
  write(files: ReadonlyMap<string, string>): Promise<void>;
}

export function startWriter(making: MakingFile, path: string | undefined): Writer {
  const child = Bun.spawn([...ownCommand(), OUTPUT_WRITER, JSON.stringify(making)], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { PATH: path },
  });
  child.unref();
  return {
    async write(files) {
      try {
        await send(child.stdin, files);
      } catch {
        // The process has ended, and says why.
      }
      const [problem] = await Promise.all([new Response(child.stderr).text(), child.exited]);
      if (child.exitCode !== 0) {
        throw new OperatorError(problem || `cannot write ${making.target}: the writer was ended`);
      }
    },
  };
}

async function send(
  stdin: { write(chunk: string | Uint8Array): unknown; flush(): unknown; end(): unknown },
  files: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [name, path] of files) {
    const file = Bun.file(path);
    stdin.write(`${JSON.stringify({ name, bytes: file.size } satisfies Head)}\n`);
    for await (const chunk of file.stream()) {
      stdin.write(chunk);
      await stdin.flush();
    }
  }
  stdin.write(`${JSON.stringify({ name: null, bytes: 0 } satisfies Head)}\n`);
  await stdin.end();
}

/** Makes the files that come on stdin. Returns the exit code; tells `complain` of a problem. */
export async function writeOutputs(
  text: string,
  complain: (problem: string) => void,
): Promise<number> {
  // Ctrl-C reaches this process too; the end of its input tells it what to do.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const making = JSON.parse(text) as MakingFile;
  const input = new Input(Bun.stdin.stream().getReader());
  try {
    for (;;) {
      const head = await input.head();
      if (head === null || head.name === null) return head === null ? 1 : 0;
      await makeFile(making, head, input);
    }
  } catch (error) {
    const isKnown = error instanceof OperatorError;
    const { target } = making;
    complain(isKnown ? error.message : `cannot write ${target}: ${messageOf(error)}`);
    return 1;
  }
}

async function makeFile(making: MakingFile, { name, bytes }: Head, input: Input): Promise<void> {
  const { isFolder, replaces } = making;
  const file = isFolder ? join(making.target, name ?? '') : making.target;
  if (isFolder && dirname(file) !== making.target) throw new OperatorError(`${file} is no file`);
  if (isFolder) mkdirSync(making.target, { recursive: true, mode: 0o700 });
  // Throws for a file that is no backup.
  if (!isFolder && replaces && existsSync(file)) await kindOf(file);
  const scratch = new Scratch(dirname(file));
  try {
    const part = scratch.file('part');
    const fd = openSync(part, 'wx', 0o600);
    try {
      await input.copy(bytes, (chunk) => writeWhole(fd, chunk));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    giveToOwnerOfFolder(part);
    giveName(part, file, replaces);
  } finally {
    scratch.drop();
  }
}

function writeWhole(fd: number, chunk: Uint8Array): void {
  for (let rest = chunk; rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest));
}

/** The bytes on stdin. */
class Input {
  #rest: Uint8Array = new Uint8Array();

  constructor(
    readonly reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
  ) {}

  /** Returns the next head; null: the command ended without it. */
  async head(): Promise<Head | null> {
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end >= 0) {
        const line = Buffer.from(this.#rest.subarray(0, end)).toString('utf8');
        this.#rest = this.#rest.subarray(end + 1);
        return JSON.parse(line) as Head;
      }
      if (!(await this.#more())) return null;
    }
  }

  async copy(bytes: number, write: (chunk: Uint8Array) => void): Promise<void> {
    for (let missing = bytes; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) {
        throw new OperatorError('the command was ended before its file was whole');
      }
      const chunk = this.#rest.subarray(0, missing);
      write(chunk);
      missing -= chunk.length;
      this.#rest = this.#rest.subarray(chunk.length);
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.reader.read();
    if (done || value === undefined) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}

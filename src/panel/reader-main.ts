/**
 * The process that reads a panel for an import or for `follow`: files and answers that another
 * person made can take all memory or never end, and only this process is killed then.
 */

import { readFileSync, rmSync, writeSync } from 'node:fs';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { listedUsers } from '../core/moving/follow-user.ts';
import { originOf, readPanel } from './panel-read.ts';
import type { ReaderInput, ReaderLine, ReaderTask } from './reader-line.ts';

const [STDIN, STDOUT] = [0, 1];
/** Lines are written together, in pieces of about this many characters. */
const PIECE_LENGTH = 64 * 1024;
/** Time between two attempts to write into a full pipe, ms. */
const FULL_MS = 1;
/** Time between two looks whether the import still runs, ms. */
const LOOK_MS = 1_000;

/** Functions of the program. */
interface Program {
  sleep(ms: number): Promise<void>;
  exit(code: number): never;
}

/**
 * Reads a panel by a {@link ReaderTask} in JSON; writes {@link ReaderLine}s on stdout. Returns the
 * exit code.
 */
export async function readForImport(text: string, { sleep, exit }: Program): Promise<number> {
  const { job, folder, importPid } = JSON.parse(text) as ReaderTask;
  const out = new Lines(() => {
    // The import was killed, and can no longer remove the folder.
    rmSync(folder, { recursive: true, force: true });
    return exit(1);
  });
  setInterval(() => {
    if (process.ppid !== importPid) out.leave();
  }, LOOK_MS);
  try {
    const isFollowed = job.isOfUsers === true;
    const hasInput = 'url' in job || isFollowed;
    const given = hasInput ? (JSON.parse(readFileSync(STDIN, 'utf8')) as ReaderInput) : null;
    if ('url' in job) Object.assign(job, given?.secrets);
    const { users, view } = await readPanel(job, {
      // The import kills this process to stop it.
      signal: new AbortController().signal,
      sleep,
      onSign: () => out.send({}),
      onProgress: (done, total) => out.send({ progress: [done, total] }),
    });
    out.add({ view });
    if (given?.listing != null) {
      const all = listedUsers(users, given.listing);
      for (const listed of all) out.add({ listed });
      out.add({ isRound: true });
      for (const listed of all) out.add({ listed });
    } else {
      for (const user of users) out.add({ user });
    }
    out.send({ isWhole: true });
    return 0;
  } catch (error) {
    const isKnown = error instanceof OperatorError;
    const message = isKnown ? error.message : `cannot read ${originOf(job)}: ${messageOf(error)}`;
    out.send({ failed: { code: isKnown ? error.code : 'failed', message } });
    return 1;
  }
}

class Lines {
  #text = '';

  /** `leave` ends the process. */
  constructor(readonly leave: () => never) {}

  add(line: ReaderLine): void {
    this.#text += `${JSON.stringify(line)}\n`;
    if (this.#text.length >= PIECE_LENGTH) this.#write();
  }

  send(line: ReaderLine): void {
    this.add(line);
    this.#write();
  }

  /** Writes; waits while the pipe is full, as the import may be slower. */
  #write(): void {
    let rest = Buffer.from(this.#text);
    this.#text = '';
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(STDOUT, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.leave();
        Bun.sleepSync(FULL_MS);
      }
    }
  }
}

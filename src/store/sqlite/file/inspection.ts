/** Databases from a backup that are inspected and never used. */

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hasRoom, noRoom, RoomWatch } from '../../../disk/room.ts';
import { Scratch } from '../../../disk/scratch.ts';
import { messageOf, OperatorError } from '../../../operator-error.ts';
import type { Arrival, Contents, Write } from '../../kind.ts';
import { Examination, NO_LOG } from './copy.ts';

/** Writes pieces to `output` in `folder`; throws before the disk is full. */
export function writerTo(output: FileHandle, folder: string, bytes: number): Write {
  const watch = new RoomWatch(folder, bytes);
  return async (chunk) => {
    await output.writeFile(chunk);
    watch.wrote(chunk.length);
  };
}

interface Nameless {
  folder: string;
  output: FileHandle;
  examination: Examination;
}

/** A file that loses its name while it is empty, so that a killed process leaves nothing. */
export class Inspection implements Arrival {
  readonly #folders: readonly string[];
  #file: Nameless | null = null;

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  async begin(bytes: number): Promise<Write> {
    this.#file = await openSomewhere(this.#folders, bytes);
    return writerTo(this.#file.output, this.#file.folder, bytes);
  }

  async contents(): Promise<Contents> {
    const { output, examination } = begun(this.#file);
    // A file without a name cannot have a log beside it.
    await output.write(NO_LOG.bytes, 0, NO_LOG.bytes.length, NO_LOG.at);
    return sound(() => examination.contents());
  }

  async drop(): Promise<void> {
    this.#file?.examination.close();
    await this.#file?.output.close();
  }
}

/** Turns an error of SQLite's into a sentence: the bytes are not a sound database. */
export function sound(read: () => Contents): Contents {
  try {
    return read();
  } catch (fault) {
    throw fault instanceof OperatorError ? fault : new OperatorError(messageOf(fault));
  }
}

export function begun<T>(file: T | null): T {
  if (file === null) throw new Error('nothing has arrived');
  return file;
}

/** Opens a file in the first of `folders` that is writable and has room. Throws `OperatorError`. */
async function openSomewhere(folders: readonly string[], bytes: number): Promise<Nameless> {
  for (const folder of folders) {
    if (!hasRoom(folder, bytes)) continue;
    try {
      return await openNameless(folder);
    } catch {
      // Read-only, or of another user: the next folder may work.
    }
  }
  throw noRoom(bytes, ...folders.filter((folder) => existsSync(folder)));
}

/** Opens a file and removes its name. */
async function openNameless(folder: string): Promise<Nameless> {
  const scratch = new Scratch(folder);
  try {
    const file = scratch.file('unpacked');
    const output = await open(file, 'wx', 0o600);
    return { folder, output, examination: new Examination(file) };
  } finally {
    scratch.drop();
  }
}

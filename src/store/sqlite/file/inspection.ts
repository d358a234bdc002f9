/** Databases from a backup that are inspected and never used. */

import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, OperatorError } from '../../../base/operator-error.ts';
import { hasRoom, noRoom, RoomWatch } from '../../../disk/room.ts';
import { Scratch } from '../../../disk/scratch.ts';
import type { Arrival, Contents, Write } from '../../kind.ts';
import { contentsOf, NO_LOG, openToExamine } from './copy.ts';

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
  db: Database;
}

/** A file that loses its name while it is empty, so that a killed process leaves nothing. */
export class Inspection implements Arrival {
  #file: Nameless | null = null;

  constructor(private readonly folders: readonly string[]) {}

  async begin(bytes: number): Promise<Write> {
    this.#file = await openSomewhere(this.folders, bytes);
    return writerTo(this.#file.output, this.#file.folder, bytes);
  }

  async contents(): Promise<Contents> {
    const { output, db } = begun(this.#file);
    // A file without a name cannot have a log beside it.
    await output.write(NO_LOG.bytes, 0, NO_LOG.bytes.length, NO_LOG.at);
    return sound(() => contentsOf(db));
  }

  async drop(): Promise<void> {
    this.#file?.db.close();
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
    return { folder, output, db: openToExamine(file) };
  } finally {
    scratch.drop();
  }
}

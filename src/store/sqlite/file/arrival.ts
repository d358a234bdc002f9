/** Databases that come out of a backup: one to be looked at, one to replace the present one. */

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { timeInName } from '../../../core/calendar.ts';
import type { Act } from '../../../core/port/audit.ts';
import { hasRoom, noRoom, RoomWatch } from '../../../disk/room.ts';
import { Scratch, syncFolder } from '../../../disk/scratch.ts';
import { OperatorError } from '../../../operator-error.ts';
import type { Arrival, Contents, Replacement, Write } from '../../kind.ts';
import { Examination, examineDatabase, NO_LOG } from './copy.ts';
import { noteRestoration } from './note.ts';
import { DatabasePlace } from './replace.ts';

/** Passes pieces on to `output` in `folder`; never so much that the disk is full. */
function writerTo(output: FileHandle, folder: string, bytes: number): Write {
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

/** A file that never has a name with something in it: nothing is left however the process ends. */
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
    // A log could not lie beside a file without a name.
    await output.write(NO_LOG.bytes, 0, NO_LOG.bytes.length, NO_LOG.at);
    return sound(() => examination.contents());
  }

  async drop(): Promise<void> {
    this.#file?.examination.close();
    await this.#file?.output.close();
  }
}

/** Turns an error of SQLite's into a sentence: it means that the bytes are no good database. */
function sound(read: () => Contents): Contents {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof OperatorError) throw fault;
    throw new OperatorError(fault instanceof Error ? fault.message : String(fault));
  }
}

function begun<T>(file: T | null): T {
  if (file === null) throw new Error('nothing has arrived');
  return file;
}

/** Opens a file in the first of `folders` that takes it and has room. Throws `OperatorError`. */
async function openSomewhere(folders: readonly string[], bytes: number): Promise<Nameless> {
  for (const folder of folders) {
    if (!hasRoom(folder, bytes)) continue;
    try {
      return await openNameless(folder);
    } catch {
      // Read-only, or somebody else's: the next one may do.
    }
  }
  throw noRoom(bytes, ...folders.filter((folder) => existsSync(folder)));
}

/** Opens a file that loses its name while it is empty: what is written, only this process has. */
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

/** A file in the data directory, which alone has the place of the database meanwhile. */
export class ReplacementFile implements Replacement {
  readonly #dataDir: string;
  readonly #place: DatabasePlace;
  #scratch: Scratch | null = null;
  #output: FileHandle | null = null;

  /** Throws `OperatorError` while anybody has the database open, or the fault of a disk. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#place = new DatabasePlace(dataDir);
  }

  get #file(): string {
    return begun(this.#scratch).file('unpacked');
  }

  async begin(bytes: number): Promise<Write> {
    if (!hasRoom(this.#dataDir, bytes)) throw noRoom(bytes, this.#dataDir);
    this.#scratch = new Scratch(this.#dataDir);
    this.#output = await open(this.#file, 'wx', 0o600);
    return writerTo(this.#output, this.#dataDir, bytes);
  }

  async contents(): Promise<Contents> {
    await begun(this.#output).sync();
    return sound(() => examineDatabase(this.#file));
  }

  loss(): string | null {
    return this.#place.wouldLose(this.#file);
  }

  putInPlace(act: Act, momentMs: number): string | null {
    const file = this.#file;
    // Before it is put in place: there is no restored database without its entry.
    noteRestoration(file, act, momentMs);
    const oldName = freeName(this.#dataDir, act.atMs);
    const wasTaken = this.#place.fill(file, oldName);
    syncFolder(this.#dataDir);
    return wasTaken ? oldName : null;
  }

  async drop(): Promise<void> {
    await this.#output?.close();
    this.#scratch?.drop();
    this.#place.release();
  }
}

/** Finds a name as `gatepost-replaced-20261121T030000Z.db`; with a number if that is taken. */
function freeName(dataDir: string, nowMs: number): string {
  const stem = join(resolve(dataDir), `gatepost-replaced-${timeInName(nowMs)}`);
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${stem}.db` : `${stem}-${n}.db`;
    if (!existsSync(name)) return name;
  }
}

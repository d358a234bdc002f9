/**
 * Hands a command of root's over to the owner of the data. Root opens the files that the command
 * line names; what their owner cannot read or write itself goes through a folder of its own.
 */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { become, type Owner, otherOwner } from './become-owner.ts';
import { type NamedFile, namedFiles, pathOf, WITHOUT_DATA } from './named-files.ts';
import type { MakingFile } from './output-line.ts';
import { startWriter, type Writer } from './output-writer.ts';

export interface Handover {
  /** Writes the names that the operator gave in place of those in the folder. */
  named(text: string): string;
  /** Whether the command makes files in the folder. */
  delivers: boolean;
  /** Puts the files that the command made where the operator wants them. */
  deliver(): Promise<void>;
  /** Removes the folder. */
  drop(): void;
}

/** Files that SQLite keeps beside a database. */
const BESIDE = ['-wal', '-journal'];
/** The most copies of a database that its program changes meanwhile. */
const COPIES_MAX = 5;

interface Opened {
  file: NamedFile;
  /** Descriptors by what follows the name. */
  parts: Map<string, number>;
}

interface Making {
  file: NamedFile;
  writer: Writer;
  /** The path in the folder; null: the owner of the data writes it. */
  inFolder: string | null;
}

type Variables = Record<string, string | undefined>;

interface Caller {
  isJson: boolean;
  /** The data directory of the command. */
  dataDir(): string;
  /** The environment of this process, which it gives up. */
  own: Variables;
  /** Runs before it is given up. */
  onHandover(): void;
}

/**
 * Hands a command over if root runs it for the data of another user; returns null if not. Throws
 * {@link OperatorError} if a file that it names cannot be opened.
 */
export async function asOwner(command: Command, caller: Caller): Promise<Handover | null> {
  if (process.geteuid?.() !== 0 || WITHOUT_DATA.includes(pathOf(command))) return null;
  const owner = otherOwner(caller.dataDir());
  if (owner === null) return null;
  caller.onHandover();
  const replaces = command.getOptionValue('force') === true;
  return handOver(namedFiles(command), { replaces, ...caller }, owner);
}

/** Opens the files, becomes the owner, and puts the paths of the copies into the command line. */
async function handOver(
  files: readonly NamedFile[],
  { replaces, isJson, own }: { replaces: boolean; isJson: boolean; own: Variables },
  owner: Owner,
): Promise<Handover> {
  const reading = files.filter(({ use }) => use === 'read').map(open);
  const making = files
    .filter(({ use }) => use !== 'read')
    .map(
      (file): Making => ({
        file,
        writer: startWriter(order(file, replaces), own['PATH']),
        inFolder: null,
      }),
    );
  become(owner, own);
  const folder = new Folder(isJson);
  try {
    for (const { file, parts } of reading) {
      if (!may(file.path, constants.R_OK)) await folder.take(file, parts);
      for (const fd of parts.values()) closeSync(fd);
    }
    for (const one of making) {
      const place =
        one.file.use === 'make' ? dirname(resolve(one.file.path)) : nearest(one.file.path);
      if (!may(place, constants.W_OK | constants.X_OK)) one.inFolder = folder.reserve(one.file);
    }
  } catch (error) {
    folder.drop();
    throw error;
  }
  return {
    named: folder.named,
    delivers: making.some(({ inFolder }) => inFolder !== null),
    deliver: async () => {
      for (const { file, writer, inFolder } of making) await writer.write(finished(file, inFolder));
    },
    drop: () => folder.drop(),
  };
}

/**
 * Opens a file, and what SQLite may keep beside it, as root. Throws {@link OperatorError} if root
 * cannot.
 */
function open(file: NamedFile): Opened {
  const { path } = file;
  try {
    const ends = BESIDE.filter((end) => existsSync(path + end));
    const parts = ['', ...ends].map((end) => [end, openSync(path + end, 'r')] as const);
    return { file, parts: new Map(parts) };
  } catch (error) {
    throw new OperatorError(`cannot read ${path}: ${messageOf(error)}`);
  }
}

/** Returns the order for a file to make. Throws {@link OperatorError} if it cannot be made. */
function order({ path, use }: NamedFile, replaces: boolean): MakingFile {
  const target = resolve(path);
  if (use === 'fill') return { target, isFolder: true, replaces: true };
  if (!statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`the directory ${dirname(target)} does not exist`);
  }
  if (!replaces && existsSync(target)) {
    throw new OperatorError(`${target} exists: choose another name`, 'file_exists');
  }
  return { target, isFolder: false, replaces };
}

/** Lists the files that a command made in the folder; none: the owner of the data wrote them. */
function finished({ use }: NamedFile, inFolder: string | null): Map<string, string> {
  if (inFolder === null || !existsSync(inFolder)) return new Map();
  if (use === 'make') return new Map([['', inFolder]]);
  return new Map(readdirSync(inFolder).map((name) => [name, join(inFolder, name)]));
}

function may(path: string, right: number): boolean {
  try {
    accessSync(path, right);
    return true;
  } catch {
    return false;
  }
}

function nearest(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

/** A folder of this user alone, made when it is needed. */
class Folder {
  #path: string | null = null;
  /** Names that the operator gave, by path. */
  readonly #names = new Map<string, string>();

  constructor(readonly isJson: boolean) {}

  reserve(file: NamedFile): string {
    this.#path ??= mkdtempSync(join(tmpdir(), 'gatepost-files-'));
    // Its own folder, as commands look at the files beside one.
    const own = join(this.#path, String(this.#names.size + 1));
    mkdirSync(own, { mode: 0o700 });
    const path = join(own, 'file');
    const name = file.use === 'read' ? file.path : resolve(file.path);
    this.#names.set(path, this.isJson ? JSON.stringify(name).slice(1, -1) : name);
    file.replace(path);
    return path;
  }

  /** Copies a file that root opened. Throws {@link OperatorError} if its program changes it. */
  async take(file: NamedFile, parts: ReadonlyMap<string, number>): Promise<void> {
    const stats = fstatSync(parts.get('') ?? -1);
    if (!stats.isFile() && !stats.isFIFO()) return;
    const { path: given } = file;
    const path = this.reserve(file);
    for (let copies = 1; ; copies += 1) {
      const before = stateOf(parts);
      for (const [end, fd] of [...parts].reverse()) await copy(fd, path + end, stats.isFile());
      if (!stats.isFile() || stateOf(parts) === before) break;
      if (copies === COPIES_MAX) {
        throw new OperatorError(`${given} changes while it is read: stop its program meanwhile`);
      }
    }
    // A secret that others can read stays one.
    chmodSync(path, stats.mode & 0o777);
  }

  named = (text: string): string =>
    [...this.#names].reduce((said, [path, name]) => said.replaceAll(path, name), text);

  drop(): void {
    if (this.#path !== null) rmSync(this.#path, { recursive: true, force: true });
  }
}

const stateOf = (parts: ReadonlyMap<string, number>) =>
  [...parts.values()]
    .map((fd) => fstatSync(fd))
    .map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
    .join();

async function copy(fd: number, path: string, isFile: boolean): Promise<void> {
  const from = createReadStream('', { fd, autoClose: false, ...(isFile && { start: 0 }) });
  await pipeline(from, createWriteStream(path, { mode: 0o600 }));
}

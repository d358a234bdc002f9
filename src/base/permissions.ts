/**
 * Permissions and owners of secret files. A finding is a sentence with the command that fixes it.
 * `gatepost doctor` shows all findings; a refused one stops the start.
 */

import {
  chmodSync,
  closeSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from './operator-error.ts';

export interface Finding {
  path: string;
  /** A sentence with the file, its mode, and the command that fixes it. */
  problem: string;
  /** Whether it stops the start. */
  isRefused: boolean;
}

const WORLD_ANY = 0o007;
const WORLD_WRITE = 0o002;
const GROUP_ANY = 0o070;
const GROUP_WRITE = 0o020;

/** The files of the database, and the key of Web Push. */
const OWN_FILES =
  /^(?:gatepost(?:\.lock|(?:-replaced-\w+(?:-\d+)?)?\.db(?:-wal|-shm)?)|vapid\.key)$/;
/** Folders whose files are all secret. */
const SECRET_FOLDERS = ['acme', 'backups'];

/**
 * Checks a secret file of the operator, such as a key or a configuration. Its group may read it, as
 * a service reads a file of root. A missing file has no findings.
 */
export function checkSecretFile(path: string): Finding[] {
  const stats = statOf(path);
  if (stats === null) return [];
  const subject = `${stats.isDirectory() ? 'the folder' : 'the file'} ${path} holds secrets and`;
  if (stats.mode & WORLD_ANY) return [refused(path, stats, subject, 'all users', '600')];
  if (stats.mode & GROUP_WRITE) {
    return [refused(path, stats, subject, 'its group (to write)', '640')];
  }
  return foreignOwner(path, stats);
}

/** The largest secret, bytes; a larger file was named by mistake. */
const SECRET_BYTES_MAX = 4096;
const STDIN = 0;

/**
 * Reads a secret from a file, or from standard input if `path` is `-`. Returns a sentence with the
 * problem if it cannot, or if other users may read the file.
 */
export function readSecretFile(path: string): { text: string } | { problem: string } {
  const isInput = path === '-';
  const stats = isInput ? null : statOf(path);
  // Before the check of modes, whose advice would change a folder or device named by mistake.
  if (stats !== null && !stats.isFile() && !stats.isFIFO()) {
    return { problem: `${path} is not a regular file or a pipe` };
  }
  const open = isInput ? undefined : checkSecretFile(path).find(({ isRefused }) => isRefused);
  if (open !== undefined) return { problem: open.problem };
  const read = readAtMost(path, SECRET_BYTES_MAX);
  if (read === null) {
    return { problem: `${path} is no secret: it is larger than ${SECRET_BYTES_MAX} bytes` };
  }
  return 'problem' in read ? read : { text: read.bytes.toString('utf8') };
}

/**
 * Reads a file, or standard input if `path` is `-`. Returns null if it is larger than `bytesMax`,
 * or a sentence with the problem.
 */
export function readAtMost(
  path: string,
  bytesMax: number,
): { bytes: Buffer } | { problem: string } | null {
  const isInput = path === '-';
  let descriptor: number | null = null;
  try {
    descriptor = isInput ? STDIN : openSync(path, 'r');
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) return { bytes: bytes.subarray(0, length) };
      length += count;
    }
    return null;
  } catch (error) {
    return { problem: `cannot read ${path}: ${(error as Error).message}` };
  } finally {
    if (descriptor !== null && !isInput) closeSync(descriptor);
  }
}

/** Returns the text of a secret file. Throws {@link OperatorError} with the problem. */
export function secretIn(path: string): string {
  const read = readSecretFile(path);
  if ('problem' in read) throw new OperatorError(read.problem);
  return read.text;
}

/** Returns the first line of a secret file. Throws {@link OperatorError}, also if it is empty. */
export function firstLineOfSecret(path: string): string {
  const [line = ''] = secretIn(path).split(/\r?\n/);
  if (line === '') throw new OperatorError(`the first line of ${path} is empty`);
  return line;
}

/**
 * Checks the data directory and Gatepost's own files in it: files 0600, folders 0700, not for the
 * group. A missing directory has no findings.
 */
export function checkDataDirectory(dataDir: string): Finding[] {
  const stats = statOf(dataDir);
  if (!stats?.isDirectory()) return [];
  const files = namesIn(dataDir).filter((name) => OWN_FILES.test(name));
  const folders = SECRET_FOLDERS.map((name) => join(dataDir, name));
  return [
    ...checkOwn(dataDir, `the data directory ${dataDir}`),
    ...foreignOwner(dataDir, stats),
    ...files.flatMap((name) => checkOwn(join(dataDir, name))),
    ...folders.flatMap((folder) => [
      ...checkOwn(folder),
      ...namesIn(folder).flatMap((name) => checkOwn(join(folder, name))),
    ]),
  ];
}

/**
 * Throws {@link OperatorError} if other users could read or change the data: every command that
 * opens it begins with this. `create` first closes an empty directory.
 */
export function refuseOpenData(dataDir: string, create = false): void {
  if (create) closeFreshDirectory(dataDir);
  const refused = checkDataDirectory(dataDir).filter(({ isRefused }) => isRefused);
  if (refused.length > 0) throw new OperatorError(refused.map((one) => one.problem).join('; '));
}

/**
 * Makes an empty file, mode 0600, for the owner of its folder. Leaves an existing file, and the
 * target of a symbolic link, unchanged.
 */
export function makeOwnFile(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return;
    throw error;
  }
  try {
    const owner = newOwner(path);
    if (owner) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}

/** Makes a folder, mode 0700, for the owner of its parent. Leaves an existing one unchanged. */
export function makeOwnFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (statOf(path)?.isDirectory()) return;
    throw error;
  }
  giveToOwnerOfFolder(path);
}

/**
 * Gives a file that root made to the owner of its folder, the user of the service. Does nothing for
 * other users. Changes the owner of a symbolic link, never that of its target.
 */
export function giveToOwnerOfFolder(path: string): void {
  const owner = newOwner(path);
  if (owner) lchownSync(path, owner.uid, owner.gid);
}

/** Returns the owner of a new file; null: its maker. */
function newOwner(path: string): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = statSync(dirname(path));
  return uid === 0 ? null : { uid, gid };
}

/** Returns whether this is an empty directory of this user: then there was nothing to read. */
export function isFreshDirectory(dataDir: string): boolean {
  const stats = statOf(dataDir);
  if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) return false;
  // Each new disk has this folder.
  return readdirSync(dataDir).every((name) => name === 'lost+found');
}

/** Closes a fresh directory to other users; does nothing to any other. */
export function closeFreshDirectory(dataDir: string): void {
  if (isFreshDirectory(dataDir)) chmodSync(dataDir, 0o700);
}

function checkOwn(path: string, name?: string): Finding[] {
  const stats = statOf(path);
  if (stats === null) return [];
  const subject = name ?? `${stats.isDirectory() ? 'the folder' : 'the file'} ${path}`;
  const mode = stats.isDirectory() ? '700' : '600';
  if (stats.mode & WORLD_ANY) return [refused(path, stats, subject, 'all users', mode)];
  if (stats.mode & GROUP_WRITE) {
    return [refused(path, stats, subject, 'its group (to write)', mode)];
  }
  if (stats.mode & GROUP_ANY) {
    return [{ ...refused(path, stats, subject, 'its group', mode), isRefused: false }];
  }
  return [];
}

function refused(path: string, stats: Stats, subject: string, to: string, wanted: string): Finding {
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  return {
    path,
    problem: `${subject} has mode ${mode}, open to ${to}: run 'chmod ${wanted} ${path}'`,
    isRefused: true,
  };
}

/** Finds another owner, who could open the file to others. Root may use the files of all users. */
function foreignOwner(path: string, stats: Stats): Finding[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0 || stats.uid === uid || stats.uid === 0) return [];
  const problem = `${path} belongs to user ${stats.uid}, not to user ${uid} that runs Gatepost: run 'chown ${uid} ${path}'`;
  return [{ path, problem, isRefused: true }];
}

/**
 * Returns a sentence with the remedy if another user than `owners` could change a file or folder;
 * null: none can.
 */
export function foreignHand(path: string, stats: Stats, owners: readonly number[]): string | null {
  if (!owners.includes(stats.uid)) {
    const wanted = owners.length > 1 ? `user ${owners.join(' or ')}` : `user ${owners[0]}`;
    return `${path} belongs to user ${stats.uid}, not to ${wanted}: run 'chown ${owners[0]} ${path}'`;
  }
  const open = stats.mode & WORLD_WRITE ? 'all users' : stats.mode & GROUP_WRITE ? 'its group' : '';
  const wanted = stats.isDirectory() ? '750' : '640';
  return open === '' ? null : refused(path, stats, path, `${open} (to write)`, wanted).problem;
}

/** Returns the facts of a file, following symbolic links; null: missing or inaccessible. */
export function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    // The targets of links are not Gatepost's own files.
    return readdirSync(folder).filter((name) => !lstatSync(join(folder, name)).isSymbolicLink());
  } catch {
    return [];
  }
}

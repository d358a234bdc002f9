/**
 * Permissions of secret files, and their owners. Findings are sentences with the command that mends
 * them: a start refuses on those that are refused, and `gatepost doctor` shows all.
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
  /** One plain sentence: the file, its mode, the command that mends it. */
  problem: string;
  /** Tells whether a start refuses on it; false: worth a line, no reason to stop. */
  isRefused: boolean;
}

/** Bits of a mode. */
const WORLD_ANY = 0o007;
const GROUP_ANY = 0o070;
const GROUP_WRITE = 0o020;

/** The database and what belongs to it, and the key that subscriptions to pushes are bound to. */
const OWN_FILES =
  /^(?:gatepost(?:\.lock|(?:-replaced-\w+(?:-\d+)?)?\.db(?:-wal|-shm)?)|vapid\.key)$/;
/** Folders for the program's own use; nothing in them is for others. */
const SECRET_FOLDERS = ['acme', 'backups'];

/**
 * Looks at a file with a secret that the operator made, such as a key or a configuration file that
 * holds one. Group-readable is fine: that is how a service reads a file of root's. A file that is
 * not there has no findings.
 */
export function checkSecretFile(path: string): Finding[] {
  const stats = statOf(path);
  if (stats === null) return [];
  const kind = stats.isDirectory() ? 'the folder' : 'the file';
  if (stats.mode & WORLD_ANY) {
    return [refused(path, stats, `${kind} ${path} holds secrets and`, 'everybody', '600')];
  }
  if (stats.mode & GROUP_WRITE) {
    return [
      refused(path, stats, `${kind} ${path} holds secrets and`, 'its group (to write)', '640'),
    ];
  }
  return foreignOwner(path, stats);
}

/** Size that no secret has: a file named by mistake is not read to its end. */
const SECRET_BYTES_MAX = 4096;
const STDIN = 0;

/**
 * Reads the text of a file with a secret, or of standard input if `path` is `-`; or returns the
 * reason, one sentence, why it cannot. A file that others may read is refused.
 */
export function readSecretFile(path: string): { text: string } | { problem: string } {
  const isInput = path === '-';
  const stats = isInput ? null : statOf(path);
  // No advice to close a folder or a device to others that was named by mistake.
  if (stats !== null && !stats.isFile() && !stats.isFIFO()) {
    return { problem: `${path} is no file that could hold a secret` };
  }
  const open = isInput ? undefined : checkSecretFile(path).find(({ isRefused }) => isRefused);
  if (open !== undefined) return { problem: open.problem };
  let descriptor: number | null = null;
  try {
    descriptor = isInput ? STDIN : openSync(path, 'r');
    const bytes = Buffer.alloc(SECRET_BYTES_MAX + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) return { text: bytes.toString('utf8', 0, length) };
      length += count;
    }
    return { problem: `${path} holds no secret: it is larger than ${SECRET_BYTES_MAX} bytes` };
  } catch (error) {
    return { problem: `cannot read ${path}: ${(error as Error).message}` };
  } finally {
    if (descriptor !== null && !isInput) closeSync(descriptor);
  }
}

/**
 * Looks at the data directory and at Gatepost's own files in it. The group has no business there:
 * files 0600, folders 0700. A directory that is not there has no findings.
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
 * Refuses data that others could read or change, by {@link OperatorError}: every command that opens
 * the data begins with this. With `create`, a directory in which nothing lies yet is closed
 * instead.
 */
export function refuseOpenData(dataDir: string, create = false): void {
  if (create) closeFreshDirectory(dataDir);
  const refused = checkDataDirectory(dataDir).filter(({ isRefused }) => isRefused);
  if (refused.length > 0) throw new OperatorError(refused.map((one) => one.problem).join('; '));
}

/**
 * Makes an empty file for its owner alone: the owner of its folder. One that is there stays as it
 * is, and so does the target of a symbolic link of that name.
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
    const owner = ownerToBe(path);
    if (owner) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}

/**
 * Makes a folder for its owner alone: the owner of the folder above, which must be there. One that
 * is there itself stays as it is.
 */
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
 * Gives a file that root made in a directory of the appliance's user to that user, who must be able
 * to use it. Does nothing for other users, who can make only files of their own. A symbolic link is
 * given itself, never its target.
 */
export function giveToOwnerOfFolder(path: string): void {
  const owner = ownerToBe(path);
  if (owner) lchownSync(path, owner.uid, owner.gid);
}

/** The user who gets a new file; null: its maker keeps it. */
function ownerToBe(path: string): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = statSync(dirname(path));
  return uid === 0 ? null : { uid, gid };
}

/** A folder that every new disk has. */
const OF_THE_DISK = 'lost+found';

/**
 * Tells whether this is the user's own directory with nothing in it yet: however open it is, nobody
 * has read or changed anything.
 */
export function isFreshDirectory(dataDir: string): boolean {
  const stats = statOf(dataDir);
  if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) return false;
  return readdirSync(dataDir).every((name) => name === OF_THE_DISK);
}

/** Closes a fresh directory to everybody else; does nothing to any other. */
export function closeFreshDirectory(dataDir: string): void {
  if (isFreshDirectory(dataDir)) chmodSync(dataDir, 0o700);
}

function checkOwn(path: string, name?: string): Finding[] {
  const stats = statOf(path);
  if (stats === null) return [];
  const subject = name ?? `${stats.isDirectory() ? 'the folder' : 'the file'} ${path}`;
  const mend = stats.isDirectory() ? '700' : '600';
  if (stats.mode & WORLD_ANY) return [refused(path, stats, subject, 'everybody', mend)];
  if (stats.mode & GROUP_WRITE) {
    return [refused(path, stats, subject, 'its group (to write)', mend)];
  }
  if (stats.mode & GROUP_ANY) {
    return [{ ...refused(path, stats, subject, 'its group', mend), isRefused: false }];
  }
  return [];
}

function refused(path: string, stats: Stats, subject: string, whom: string, mend: string): Finding {
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  return {
    path,
    problem: `${subject} has mode ${mode}, open to ${whom}: run 'chmod ${mend} ${path}'`,
    isRefused: true,
  };
}

/** Finds an owner who is another user: owners can open files to others. Root may use anybody's. */
function foreignOwner(path: string, stats: Stats): Finding[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0 || stats.uid === uid || stats.uid === 0) return [];
  const problem = `${path} belongs to user ${stats.uid}, not to user ${uid} who runs Gatepost: run 'chown ${uid} ${path}'`;
  return [{ path, problem, isRefused: true }];
}

/** Facts of a file, also behind a symbolic link; null when it is not there or cannot be seen. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    // A link in a folder of ours leads to files that are not ours to judge.
    return readdirSync(folder).filter((name) => !lstatSync(join(folder, name)).isSymbolicLink());
  } catch {
    return [];
  }
}

/** The file of a Unix socket: its folder, its mode and group, and what a killed server left. */

import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, OperatorError } from '../../base/operator-error.ts';
import type { Front } from './front.ts';

export interface SocketFile {
  /** Its absolute path. */
  path: string;
  /** `0600` or `0660`. */
  mode: number;
  /** The name of its group; empty: that of the folder or process. */
  group: string;
}

/** Rights of other users on the folder, and that of its group to write. */
const OPEN_FOLDER = 0o027;
const SETGID = 0o2000;
/** The kernel's name for a group that a user namespace does not have, as the service's is. */
const UNSEEN_GID = 65_534;

/**
 * Prepares the place of the socket and returns the function that listens there. Rejects with
 * `OperatorError` if the folder is open to others, or something else is in the place.
 */
export async function bindSocketFile(file: SocketFile) {
  const gid = file.group === '' ? null : groupId(file);
  const folder = prepareFolder(file, gid);
  await checkPlace(file);
  return (front: Front) => {
    // The socket is renamed to its place when it is ready. At its end Bun removes the name at which
    // it was made, and whatever is there: that could be the socket of a newer server.
    const made = join(dirname(file.path), `.${crypto.randomUUID().slice(0, 8)}`);
    // Until its mode is set, the owner alone may connect.
    const mask = process.umask(0o177);
    let listening: ReturnType<typeof Bun.listen>;
    try {
      const socket = front.handlers;
      listening = Bun.listen({ unix: made, allowHalfOpen: true, socket }) as never;
    } catch (error) {
      throw failure(file, messageOf(error));
    } finally {
      process.umask(mask);
    }
    let own: Stats;
    try {
      setGroup(file, made, gid, folder);
      chmodSync(made, file.mode);
      own = lstatSync(made);
      renameSync(made, file.path);
    } catch (error) {
      listening.stop(true);
      throw error instanceof OperatorError ? error : failure(file, messageOf(error));
    }
    const remove = () => {
      const there = statOf(file.path);
      // A number is given again after its file is gone.
      if (there?.ino === own.ino && there.birthtimeMs === own.birthtimeMs) {
        rmSync(file.path, { force: true });
      }
    };
    return {
      url: `unix:${file.path}`,
      rejectNew: () => {
        // The next connections find no socket; accepted ones go on.
        remove();
        return true;
      },
      stop: () => {
        listening.stop(false);
        remove();
      },
    };
  };
}

const failure = ({ path }: SocketFile, reason: string) =>
  new OperatorError(`cannot listen on the socket ${path}: ${reason}`);

function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Makes the folder if it is missing, and refuses one in which others could replace the socket. */
function prepareFolder(file: SocketFile, gid: number | null): Stats {
  const path = dirname(file.path);
  if (statOf(path) === null) {
    try {
      mkdirSync(path);
    } catch (error) {
      throw failure(file, messageOf(error));
    }
    setGroup(file, path, gid, lstatSync(path));
    // Not by the mask of the process, which may take the right of the group.
    chmodSync(path, 0o750);
  }
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw failure(file, `${path} is no directory`);
  if (stats.uid !== 0 && stats.uid !== process.geteuid?.()) {
    const why = `another user (id ${stats.uid}) owns the folder ${path}, and could replace the socket`;
    throw failure(file, `${why}: give it to this user or to root`);
  }
  if ((stats.mode & OPEN_FOLDER) !== 0) {
    const why = `other users can reach the folder ${path} (mode ${(stats.mode & 0o777).toString(8)})`;
    throw failure(file, `${why}: give the socket a folder of its own, with 'chmod g-w,o= ${path}'`);
  }
  return stats;
}

/** Checks that the place is free, or has the socket of a killed server, which is replaced. */
async function checkPlace(file: SocketFile): Promise<void> {
  const there = statOf(file.path);
  if (there === null) return;
  if (!there.isSocket()) throw failure(file, 'another file is there: remove it, or choose another');
  const fault = await faultOf(file.path);
  if (fault === null) {
    throw failure(file, 'a running program listens there: stop it, or choose another');
  }
  if (fault !== 'ECONNREFUSED' && fault !== 'ENOENT') {
    const why = `a program may listen there, but to connect to it fails (${fault})`;
    throw failure(file, `${why}: remove it if it is an old one`);
  }
  if (there.uid !== process.geteuid?.()) {
    throw failure(file, 'the socket there belongs to another user: remove it, or choose another');
  }
}

/** Returns the code of the fault of a connection to a socket; null: a program listens. */
async function faultOf(path: string): Promise<string | null> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data: () => {} } });
    socket.terminate();
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
  }
}

/** Returns the id of the group in /etc/group. Throws `OperatorError` if it is not there. */
function groupId(file: SocketFile): number {
  const lines = readFileSync('/etc/group', 'utf8').split('\n');
  const found = lines.map((line) => line.split(':')).find(([name]) => name === file.group);
  if (found === undefined) throw failure(file, `there is no group ${file.group}`);
  return Number(found[2]);
}

/**
 * Gives the socket, or a folder that was made for it, its group. A service without that right gets
 * it from a folder with the setgid bit, and then may be unable to see the group.
 */
function setGroup(file: SocketFile, path: string, gid: number | null, folder: Stats): void {
  const { gid: own, uid } = lstatSync(path);
  if (gid === null || own === gid) return;
  try {
    chownSync(path, uid, gid);
  } catch {
    if ((folder.mode & SETGID) !== 0 && own === UNSEEN_GID) return;
    const todo = `install -d -m 2750 -o USER -g ${file.group} ${dirname(file.path)}`;
    throw failure(
      file,
      `this user may not give it the group ${file.group}: make its folder with '${todo}'`,
    );
  }
}

/**
 * A command that root runs for the data of another user becomes that user before it opens them:
 * the owner of a folder can plant links in it, and files of root's would stop the service.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf, OperatorError } from '../base/operator-error.ts';

/** The user who owns a data directory. */
export interface Owner {
  uid: number;
  gid: number;
  /** The name in /etc/passwd; null: it has none. */
  name: string | null;
  home: string;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * Returns the owner of a data directory if this process is root's and the owner another user, else
 * null; also if it does not exist. Throws {@link OperatorError} if a link of another user leads to
 * it: root would open what that user chose.
 */
export function otherOwner(dataDir: string): Owner | null {
  if (process.geteuid?.() !== 0) return null;
  const path = resolve(dataDir);
  const real = trustedPath(path);
  if (real === null) return null;
  const fd = openSync(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    if (readlinkSync(`/proc/self/fd/${fd}`) !== real) throw moved(path);
    const { uid, gid } = fstatSync(fd);
    return uid === 0 ? null : userOf(uid, gid);
  } finally {
    closeSync(fd);
  }
}

const moved = (path: string) => new OperatorError(`${path} was moved meanwhile: try again`);

/** Returns the path of a folder without links; null: it is no folder. Root must own each link. */
function trustedPath(path: string): string | null {
  try {
    for (let part = path; ; part = dirname(part)) {
      const stats = lstatSync(part);
      if (stats.isSymbolicLink()) {
        if (stats.uid !== 0) {
          throw new OperatorError(
            `${part} is a symbolic link of user ${stats.uid}: name the directory itself with --data`,
          );
        }
        return trustedPath(resolve(dirname(part), readlinkSync(part), path.slice(part.length + 1)));
      }
      if (part === dirname(part)) break;
    }
    return lstatSync(path).isDirectory() && realpathSync(path) === path ? path : null;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    return null;
  }
}

/** Returns a user as /etc/passwd has it; `gid` is for one that it lacks, as in an image. */
function userOf(uid: number, gid: number): Owner {
  let users = '';
  try {
    users = readFileSync('/etc/passwd', 'utf8');
  } catch {
    // Then the group of the folder counts.
  }
  const line = new RegExp(`^([^:\\n]+):[^:]*:${uid}:(\\d+):[^:\\n]*:([^:\\n]*)`, 'm');
  const [, name, group, home] = line.exec(users) ?? [];
  return name === undefined
    ? { uid, gid, name: null, home: '/' }
    : { uid, gid: Number(group), name, home: home || '/' };
}

/** Variables that a command keeps; HOME becomes that of the user. */
const KEPT = ['PATH', 'TERM'] as const;

/** Node's types lack it. */
const { initgroups } = process as unknown as { initgroups(user: string, gid: number): void };

/**
 * Becomes a user for good: with its groups, and with PATH, HOME and TERM alone in `env`. Throws
 * {@link OperatorError} if that fails, or if a thread is still root's.
 */
export function become(
  { uid, gid, name, home }: Owner,
  env: Record<string, string | undefined>,
): void {
  try {
    if (name === null) process.setgroups?.([gid]);
    else initgroups(name, gid);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    throw new OperatorError(
      `root cannot become user ${uid}, the owner of the data (${messageOf(error)}): run the command as that user`,
    );
  }
  if (!isOnly(uid, gid) || canReturn()) {
    throw new OperatorError(
      `root has become user ${uid} in part only: run the command as that user`,
    );
  }
  for (const variable of Object.keys(env)) {
    if (!(KEPT as readonly string[]).includes(variable)) delete env[variable];
  }
  env['HOME'] = home;
}

/** Returns whether each thread has this user and group alone, and no capability. */
function isOnly(uid: number, gid: number): boolean {
  return readdirSync('/proc/self/task').every((task) => {
    const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8');
    const four = (id: number) => `\t${id}\t${id}\t${id}\t${id}\n`;
    return (
      status.includes(`\nUid:${four(uid)}`) &&
      status.includes(`\nGid:${four(gid)}`) &&
      /^CapPrm:\t0+$/m.test(status) &&
      /^CapEff:\t0+$/m.test(status)
    );
  });
}

function canReturn(): boolean {
  try {
    process.setuid?.(0);
    return true;
  } catch {
    return false;
  }
}

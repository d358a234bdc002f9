/**
 * Who may read what is secret. Findings are sentences with the command that mends them: a start
 * refuses on those, and `gatepost doctor` shows all.
 */

import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Finding {
  path: string;
  /** One plain sentence: the file, its mode, what to run. */
  problem: string;
  /** False: worth saying, no reason to stop. */
  isRefused: boolean;
}

/** Bits of a mode. */
const WORLD_ANY = 0o007;
const GROUP_ANY = 0o070;
const GROUP_WRITE = 0o020;

const DATABASE_FILES = /^gatepost(?:\.lock|(?:-replaced-\w+(?:-\d+)?)?\.db(?:-wal|-shm)?)$/;
/** Made for the program's own use; nothing in them is for others. */
const SECRET_FOLDERS = ['acme', 'backups'];

/**
 * Looks at a file with a secret that the operator made, such as a key or a configuration file that
 * holds one. Group-readable is fine: that is how a service reads what root owns. A file that is
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

/**
 * Looks at the data directory and at what Gatepost itself made there. The group has no business in
 * it: files 0600, folders 0700. A directory that is not there has no findings.
 */
export function checkDataDirectory(dataDir: string): Finding[] {
  const stats = statOf(dataDir);
  if (!stats?.isDirectory()) return [];
  const files = namesIn(dataDir).filter((name) => DATABASE_FILES.test(name));
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

/** Whoever owns a file can open it to others, or change it. Root may look after anybody's. */
function foreignOwner(path: string, stats: Stats): Finding[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0 || stats.uid === uid || stats.uid === 0) return [];
  const problem = `${path} belongs to user ${stats.uid}, not to user ${uid} who runs Gatepost: run 'chown ${uid} ${path}'`;
  return [{ path, problem, isRefused: true }];
}

/** Of the file itself, also behind a symbolic link; null when it is not there or cannot be seen. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    // A link in a folder of ours leads to what is not ours to judge.
    return readdirSync(folder).filter((name) => !lstatSync(join(folder, name)).isSymbolicLink());
  } catch {
    return [];
  }
}

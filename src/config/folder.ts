/**
 * The folder beside the configuration file: `gatepost.d` beside `gatepost.toml`. Its files are read
 * after that file, in the order of their names. Nothing in it is skipped: a setting that is missing
 * may be the one that refuses.
 */

import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../base/operator-error.ts';
import { foreignHand } from '../base/permissions.ts';

/** The largest configuration file, bytes, and the most files of a folder. */
export const BYTES_MAX = 1024 ** 2;
const FILES_MAX = 100;

const NAME = /^[A-Za-z0-9][\w.-]*\.toml$/;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Returns the folder of a configuration file; null: it has none. */
export function folderOf(file: string): string | null {
  return file.endsWith('.toml') ? `${file.slice(0, -'.toml'.length)}.d` : null;
}

interface FolderFile {
  path: string;
  text: string;
}

/** The users who may change the files of a folder, and the group that reads them. */
interface Hands {
  owners: readonly number[];
  gid: number;
}

/**
 * Reads the files of a folder, which users other than `owners` must not be able to change. Adds a
 * sentence with the remedy to `problems` for each one that it cannot take. A missing folder has no
 * files.
 */
export function readFolder(folder: string, hands: Hands, problems: string[]): FolderFile[] {
  let names: string[];
  try {
    const problem = opened(folder, O_DIRECTORY, (fd) =>
      foreignHand(folder, fstatSync(fd), hands.owners),
    );
    if (problem !== null) problems.push(problem);
    names = readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      problems.push(`cannot read ${folder}: ${reasonOf(error, folder, hands.gid, 750)}`);
    return [];
  }
  if (names.length > FILES_MAX) {
    problems.push(`${folder} has more than ${FILES_MAX} files: join some of them`);
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const read = fileIn(path, name, hands);
    if ('text' in read) return [{ path, text: read.text }];
    problems.push(read.problem);
    return [];
  });
}

function fileIn(
  path: string,
  name: string,
  { owners, gid }: Hands,
): { text: string } | { problem: string } {
  if (!NAME.test(name)) {
    return {
      problem: `${path} has no name such as 20-gate.toml: rename it, or move it out of the folder`,
    };
  }
  try {
    return opened(path, O_NONBLOCK, (fd) => {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return { problem: `${path} is no regular file: move it away` };
      if (stats.size > BYTES_MAX) return { problem: `${path} is larger than 1 MiB` };
      const problem = foreignHand(path, stats, owners);
      return problem === null ? { text: utf8(readFileSync(fd)) } : { problem };
    });
  } catch (error) {
    if (error instanceof TypeError) return { problem: `${path} is not text in UTF-8` };
    return { problem: `cannot read ${path}: ${reasonOf(error, path, gid, 640)}` };
  }
}

/** Runs `use` with a descriptor of the path itself, never of a link's target. */
function opened<T>(path: string, flags: number, use: (fd: number) => T): T {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | flags);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Decodes a file. Throws TypeError if it is not UTF-8. */
export const utf8 = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

export const codeOf = (error: unknown) => String((error as { code?: unknown }).code);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'it is no folder: make it one, or move it away',
  ELOOP: 'it is a symbolic link: put the file itself there',
};

function reasonOf(error: unknown, path: string, gid: number, mode: 640 | 750): string {
  const code = codeOf(error);
  // The file beside it is of the group of the service, or open to all.
  const remedy = gid === 0 ? `chmod o=g ${path}` : `chgrp ${gid} ${path} && chmod ${mode} ${path}`;
  if (code === 'EACCES') return `permission denied: run '${remedy}'`;
  return REASONS[code] ?? messageOf(error);
}

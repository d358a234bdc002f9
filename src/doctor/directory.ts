/** The data directory: is it there, whose is it, and can it be written to? */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { about, type Finding, reasonIn } from './finding.ts';

const say = about('data directory');

export function checkDirectory(dataDir: string, uid: number): Finding[] {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) {
    return [
      say.problem(
        `${dataDir} does not exist`,
        "'gatepost serve' makes it; or name another with --data",
      ),
    ];
  }
  if (!stats.isDirectory()) {
    return [say.problem(`${dataDir} is not a directory`, 'name another with --data')];
  }
  const findings = [
    ...checkMode(dataDir, stats),
    ...checkOwners(dataDir, stats, uid),
    ...checkWriting(dataDir),
  ];
  return findings.length > 0 ? findings : [say.ok(`${dataDir} is private and can be written to`)];
}

function checkMode(dataDir: string, { mode }: Stats): Finding[] {
  const open = [{ path: dataDir, mode }, ...filesOf(dataDir)].filter((f) => (f.mode & 0o077) !== 0);
  return open.map(({ path }) => say.warning(`others may read ${path}`, `chmod go= '${path}'`));
}

/** The database and its companions, backups and settings; of subdirectories only the name. */
function filesOf(dataDir: string) {
  try {
    return readdirSync(dataDir)
      .filter((name) => name.startsWith('gatepost'))
      .map((name) => join(dataDir, name))
      .flatMap((path) => {
        const stats = statSync(path, { throwIfNoEntry: false });
        return stats === undefined ? [] : [{ path, mode: stats.mode, uid: stats.uid }];
      });
  } catch {
    // That it cannot be listed shows when it is written to.
    return [];
  }
}

/** Root reads and writes everything, the appliance's user only what is its own. */
function checkOwners(dataDir: string, { uid: owner }: Stats, uid: number): Finding[] {
  if (uid !== 0 && uid !== owner) {
    return [
      say.problem(
        `${dataDir} belongs to user ${owner}, this command runs as user ${uid}`,
        'run gatepost as the user of the service',
      ),
    ];
  }
  return filesOf(dataDir)
    .filter((file) => file.uid !== owner)
    .map((file) =>
      say.problem(
        `${file.path} belongs to user ${file.uid}, its directory to user ${owner}`,
        `chown ${owner} '${file.path}'`,
      ),
    );
}

function checkWriting(dataDir: string): Finding[] {
  const probe = join(dataDir, `.gatepost-doctor-${randomBytes(6).toString('hex')}`);
  try {
    // More than fits beside an inode: an empty file can be had on a full disk.
    writeFileSync(probe, Buffer.alloc(8192, 1), { flag: 'wx', mode: 0o600 });
    return [];
  } catch (error) {
    return [writingProblem(dataDir, error)];
  } finally {
    if (existsSync(probe)) rmSync(probe);
  }
}

function writingProblem(dataDir: string, error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return say.problem(
      `the disk of ${dataDir} is full: nothing can be saved`,
      'free space or enlarge the disk; the server takes writes again by itself',
    );
  }
  if (code === 'EROFS') {
    return say.problem(
      `${dataDir} is on a disk that is mounted read-only`,
      'look into the kernel log (dmesg) for the reason, then mount it for writing again',
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return say.problem(
      `${dataDir} may not be written to by this user`,
      `run gatepost as its owner, or chmod u+rwx '${dataDir}'`,
    );
  }
  return say.problem(`${dataDir} cannot be written to: ${reasonIn(error)}`, 'look at its disk');
}

/** Checks the data directory: presence, owner, mode, and whether it can be written to. */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { about, type Finding } from '../base/finding.ts';
import { messageOf } from '../base/operator-error.ts';
import {
  checkDataDirectory,
  isFreshDirectory,
  type Finding as Permission,
} from '../base/permissions.ts';
import { counted } from '../core/counted.ts';

const say = about('data directory');

export function checkDirectory(dataDir: string, uid: number): Finding[] {
  let stats: Stats | undefined;
  try {
    stats = statSync(dataDir, { throwIfNoEntry: false });
  } catch {
    return [
      say.problem(
        'data_directory_out_of_reach',
        `user ${uid} may not enter a folder on the way to ${dataDir}`,
        'run the doctor in another folder, as root, or with --data',
      ),
    ];
  }
  if (stats === undefined) {
    return [
      say.problem(
        'data_directory_missing',
        `${dataDir} does not exist`,
        "'gatepost serve' creates it; or give another with --data",
      ),
    ];
  }
  if (!stats.isDirectory()) {
    return [
      say.problem(
        'data_directory_is_a_file',
        `${dataDir} is not a directory`,
        'give another with --data',
      ),
    ];
  }
  const findings = [
    ...checkUser(dataDir, stats, uid),
    ...checkMode(dataDir),
    ...checkOwners(dataDir, stats),
    ...checkWriting(dataDir),
  ];
  return findings.length > 0 ? findings : [say.ok(`${dataDir} is private and writable`)];
}

/** Warns if the doctor does not run as the user of the service: their rights may differ. */
function checkUser(dataDir: string, { uid: owner }: Stats, uid: number): Finding[] {
  if (uid === owner) return [];
  return [
    say.warning(
      'doctor_runs_as_other_user',
      `${dataDir} belongs to user ${owner}, but the doctor runs as user ${uid}: findings about permissions are for user ${uid}`,
      `run it as the user of the service: sudo -u '#${owner}' gatepost doctor`,
    ),
  ];
}

function checkMode(dataDir: string): Finding[] {
  const findings = checkDataDirectory(dataDir);
  if (findings.length > 0 && isFreshDirectory(dataDir)) {
    return [
      say.warning(
        'data_directory_open',
        `${dataDir} is empty, and open to other users`,
        "'gatepost serve' makes it private",
      ),
    ];
  }
  return findings.map(asFinding);
}

/** Splits a finding about permissions, which ends with the command that fixes it. */
function asFinding({ problem, isRefused }: Permission): Finding {
  const [what = problem, todo = 'chmod'] = problem.split(': run ');
  return isRefused
    ? say.problem('data_directory_mode', what, `run ${todo}`)
    : say.warning('data_directory_mode', what, `run ${todo}`);
}

/** Returns the files of Gatepost with their owners. */
function filesOf(dataDir: string) {
  try {
    return (
      readdirSync(dataDir)
        .sort()
        // Root may own the configuration, which is only read.
        .filter((name) => /^gatepost(?!\.(?:toml|d)$)/.test(name))
        .map((name) => join(dataDir, name))
        .map((path) => ({ path, uid: statSync(path).uid }))
    );
  } catch {
    // checkWriting reports a directory that cannot be read.
    return [];
  }
}

/** Finds files that the user of the service could not use. */
function checkOwners(dataDir: string, { uid: owner, gid }: Stats): Finding[] {
  const foreign = filesOf(dataDir).filter((file) => file.uid !== owner);
  const [first] = foreign;
  if (first === undefined) return [];
  const more = foreign.length > 1 ? ` and ${counted(foreign.length - 1, 'more file')}` : '';
  const chown = `sudo chown ${owner}:${gid}`;
  return [
    say.problem(
      'data_file_of_other_user',
      `${first.path}${more} belong${more === '' ? 's' : ''} to user ${first.uid}, the directory to user ${owner}`,
      `run '${chown} ${foreign.map(({ path }) => path).join(' ')}'`,
      resolve(dataDir),
    ),
  ];
}

function checkWriting(dataDir: string): Finding[] {
  const probe = join(dataDir, `.gatepost-doctor-${randomBytes(6).toString('hex')}`);
  try {
    // More than fits beside an inode: a full disk still accepts an empty file.
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
      'disk_full',
      `the disk of ${dataDir} is full: nothing can be saved`,
      'free space or enlarge the disk; the server then accepts writes by itself',
      resolve(dataDir),
    );
  }
  if (code === 'EROFS') {
    return say.problem(
      'disk_read_only',
      `${dataDir} is on a disk that is mounted read-only`,
      'see the kernel log (dmesg) for the reason, then mount it for writing again',
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return say.problem(
      'data_directory_not_writable',
      `this user may not write to ${dataDir}`,
      `run gatepost as its owner, or 'chmod u+rwx ${dataDir}'`,
    );
  }
  return say.problem(
    'data_directory_unusable',
    `${dataDir} is not writable: ${messageOf(error)}`,
    'check its disk',
  );
}

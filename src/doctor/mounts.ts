/** Checks the disks that hold the data and the operator's program, by `/proc/self/mountinfo`. */

import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';

/** A mounted file system. */
interface Mount {
  place: string;
  /** Its kind, such as `ext4` or `fuse.sshfs`. */
  kind: string;
  options: readonly string[];
}

/** Kinds on which machines share files: their locks and their shared memory are not SQLite's. */
const NETWORK = /^(?:nfs\d*|cifs|smb\w*|ncpfs|afs|ceph|glusterfs|lustre|9p|virtiofs)$/;
const NETWORK_FUSE =
  /^fuse\.(?:sshfs|glusterfs|ceph|ceph-fuse|s3fs|rclone|davfs|curlftpfs|smbnetfs|gcsfuse|juicefs)$/;

/** Reads the mounts; empty if the system does not list them. */
export function readMounts(file = '/proc/self/mountinfo'): Mount[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  // 36 35 98:0 /root /place rw,noatime master:1 - ext4 /dev/sda1 rw: proc_pid_mountinfo(5).
  return text.split('\n').flatMap((line) => {
    const [head = '', tail = ''] = line.split(' - ');
    const [, , , , place, options] = head.split(' ');
    const [kind] = tail.split(' ');
    if (!place || !options || !kind) return [];
    return [{ place: unescaped(place), kind, options: options.split(',') }];
  });
}

/** Blanks in a path are `\040` in the list. */
const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Returns the mount that holds a path; the last of several at one place hides the others. */
function mountOf(path: string, mounts: readonly Mount[]): Mount | null {
  const holding = mounts.filter(
    ({ place }) => path === place || path.startsWith(place === '/' ? '/' : `${place}/`),
  );
  return holding.reduce<Mount | null>(
    (best, one) => (best === null || one.place.length >= best.place.length ? one : best),
    null,
  );
}

/** Finds a SQLite database on a disk that other machines share. */
export function checkNetworkDisk(dataDir: string, mounts = readMounts()): Finding[] {
  const mount = mountOf(realPath(dataDir), mounts);
  if (mount === null || !(NETWORK.test(mount.kind) || NETWORK_FUSE.test(mount.kind))) {
    return [];
  }
  return [
    about('data directory').problem(
      'data_directory_on_network_disk',
      `${dataDir} is on a network disk (${mount.kind} at ${mount.place}), where SQLite's locks do not hold: the database can be damaged`,
      'move the data directory to a disk of this machine; keep only backups on the network disk, or use PostgreSQL',
    ),
  ];
}

/** Checks that the program of `acme.dns_hook` can be run. */
export function checkHook(
  { acmeChallenge, acmeDnsHook: hook, acmeDomains }: Config,
  mounts = readMounts(),
): Finding[] {
  if (acmeDomains.length === 0 || acmeChallenge !== 'dns-01' || hook === '') return [];
  const say = about('certificate');
  if (!isFile(hook)) {
    return [
      say.problem(
        'dns_hook_missing',
        `${hook} of acme.dns_hook does not exist, or is no file`,
        'correct acme.dns_hook: no certificate is issued or renewed until then',
      ),
    ];
  }
  const mount = mountOf(realPath(hook), mounts);
  if (mount?.options.includes('noexec')) {
    return [
      say.problem(
        'dns_hook_on_noexec_disk',
        `${hook} of acme.dns_hook is on a disk that is mounted noexec (${mount.place}): it cannot run`,
        'move the program to another disk, or mount this one without noexec',
      ),
    ];
  }
  try {
    accessSync(hook, constants.X_OK);
    return [];
  } catch {
    return [
      say.problem(
        'dns_hook_not_executable',
        `${hook} of acme.dns_hook may not be run by this user`,
        `run 'chmod +x ${hook}', and give the user of the service the right to its folder`,
      ),
    ];
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

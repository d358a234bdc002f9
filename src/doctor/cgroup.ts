/** Checks the limits of a control group, version 1 or 2, that a container or a unit sets. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { about, type Finding } from '../base/finding.ts';
import { mib } from '../disk/room.ts';

const MIB = 1024 ** 2;
/** The memory of a server with little work, and of one that serves thousands of devices, bytes. */
const MEMORY_BYTES_MIN = 192 * MIB;
const MEMORY_BYTES_LOW = 384 * MIB;
/** Threads of a server, and of a command, a backup and a check of the console beside it. */
const THREADS_MIN = 64;
/** Parts of a processor below which each call takes long. */
const PROCESSORS_MIN = 0.25;

/** The limits of a process; null: none. */
interface Limits {
  memoryBytes: number | null;
  threads: number | null;
  processors: number | null;
}

const ROOT = '/sys/fs/cgroup';

/** The files of a limit: of version 2, and of version 1 with their controller. */
const MEMORY = { file: 'memory.max', controller: 'memory', old: 'memory.limit_in_bytes' };
const THREADS = { file: 'pids.max', controller: 'pids', old: 'pids.max' };

/** Reads the narrowest limits over a process's groups and their parents. `root`: of the files. */
function limitsOf(pid: number | 'self', root = ''): Limits {
  const groups = read(`${root}/proc/${pid}/cgroup`).split('\n');
  const foldersOf = (controller: string, hasFile: (folder: string) => boolean) => {
    const old = groups.find((line) => line.split(':')[1]?.split(',').includes(controller));
    const own = old ?? groups.find((line) => line.startsWith('0::')) ?? '';
    const path = own.split(':').slice(2).join(':');
    const base = old === undefined ? `${root}${ROOT}` : `${root}${ROOT}/${controller}`;
    // In a container the group's own path may be hidden: its files are at the root.
    return parents(base, path).filter(hasFile);
  };
  const smallest = ({ file, controller, old }: typeof MEMORY) => {
    const numbers = foldersOf(controller, () => true).flatMap((folder) =>
      [file, old].map((name) => Number.parseInt(read(join(folder, name)), 10)),
    );
    const limits = numbers.filter((limit) => limit >= 0);
    return limits.length === 0 ? null : Math.min(...limits);
  };
  const shares = foldersOf('cpu', () => true)
    .map(processorsOf)
    .filter((share) => share !== null);
  return {
    memoryBytes: smallest(MEMORY),
    threads: smallest(THREADS),
    processors: shares.length === 0 ? null : Math.min(...shares),
  };
}

/** Returns a group's folder and those of its parents up to `base`. */
function parents(base: string, path: string): string[] {
  const folders: string[] = [];
  let at = path;
  while (at !== '/' && at !== '' && at !== '.') {
    folders.push(join(base, at));
    at = dirname(at);
  }
  return [...folders, base];
}

/** Returns the parts of a processor that a group may use; null: all. */
function processorsOf(folder: string): number | null {
  const [quota, period] = read(join(folder, 'cpu.max')).trim().split(' ').map(Number);
  const [oldQuota, oldPeriod] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) =>
    Number(read(join(folder, name)).trim()),
  );
  for (const [part, whole] of [
    [quota, period],
    [oldQuota, oldPeriod],
  ]) {
    if (part !== undefined && whole !== undefined && part > 0 && whole > 0) return part / whole;
  }
  return null;
}

/** Checks the limits of the server's process, else of this one. */
export function checkLimits(pid: number | null, root = ''): Finding[] {
  const say = about('limits');
  const { memoryBytes, threads, processors } = limitsOf(pid ?? 'self', root);
  const who = pid === null ? 'a process started from here' : `the server (process ${pid})`;
  const findings: Finding[] = [];
  if (memoryBytes !== null && memoryBytes < MEMORY_BYTES_LOW) {
    const level = memoryBytes < MEMORY_BYTES_MIN ? say.problem : say.warning;
    findings.push(
      level(
        'memory_limit_low',
        `${who} may use ${mib(memoryBytes)} MiB of memory: the system ends it when it needs more`,
        `allow ${mib(MEMORY_BYTES_LOW)} MiB: MemoryMax= of the unit, --memory of the container`,
      ),
    );
  }
  if (threads !== null && threads < THREADS_MIN) {
    findings.push(
      say.warning(
        'task_limit_low',
        `${who} may have ${threads} threads and processes: backups and checks beside it may fail to start`,
        `allow ${THREADS_MIN}: TasksMax= of the unit, --pids-limit of the container`,
      ),
    );
  }
  if (processors !== null && processors < PROCESSORS_MIN) {
    findings.push(
      say.warning(
        'processor_limit_low',
        `${who} may use ${Math.round(processors * 100)} % of a processor: calls wait when it is used up`,
        'allow 50 % or more: CPUQuota= of the unit, --cpus of the container',
      ),
    );
  }
  return findings;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

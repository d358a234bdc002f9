/**
 * Programs of a machine that is being played: each with its output in a file, ended by its own id.
 * What refuses to be run by root is run as the user `postgres`.
 */

import {
  chmodSync,
  chownSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';

const running = new Set<number>();
const folders: string[] = [];

// A run that is interrupted leaves nothing behind.
process.on('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/**
 * Ends at once whatever was started here and still runs, with all that it has started, and removes
 * the folders. A test file does it itself: the end of `bun test` is not told to its processes.
 */
export function endAll(): void {
  const all = [...running, ...folders.flatMap(thoseOf)];
  for (const pid of all.flatMap(treeOf)) signalTo(pid, 'SIGKILL');
  running.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Processes that were started for a folder; a database that Patroni starts is no child of it. */
function thoseOf(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => commandOf(pid).includes(folder));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** User and group of `postgres`, where this process is root. */
function postgresUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+)/m);
  if (line === null) throw new Error('there is no user postgres');
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** A fresh folder that PostgreSQL may write in; it is removed when the process ends. */
export function daemonFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-ha-'));
  folders.push(folder);
  const user = postgresUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  return folder;
}

/** The command as the user `postgres`, where this process is root. */
export function asPostgres(command: readonly string[]): string[] {
  if (postgresUser() === null) return [...command];
  const user = ['--reuid=postgres', '--regid=postgres', '--init-groups'];
  return ['setpriv', ...user, '--', ...command];
}

export interface Daemon {
  pid: number;
  exited: Promise<unknown>;
  /** What it has printed so far. */
  said(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program that runs until it is stopped; what it prints is added to `log`. */
export function startDaemon(
  command: readonly string[],
  log: string,
  env: Record<string, string> = {},
): Daemon {
  const output = openSync(log, 'a');
  const child: Subprocess = Bun.spawn([...command], {
    env: { PATH: process.env['PATH'] ?? '', HOME: join(log, '..'), ...env },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  });
  running.add(child.pid);
  void child.exited.then(() => running.delete(child.pid));
  return {
    pid: child.pid,
    exited: child.exited,
    said: () => readFileSync(log, 'utf8'),
    stop: async (signal = 'SIGTERM') => {
      signalTo(child.pid, signal);
      await child.exited;
    },
  };
}

/** A process and all that descend from it, as far as they are there. */
export function treeOf(pid: number): number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return [];
  }
  return [pid, ...(children.match(/\d+/g) ?? []).map(Number).flatMap(treeOf)];
}

/** Sends a signal; to a process that has ended, nothing happens. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** Another process that does not descend from one started here, ended with the rest. */
export function adopt(pid: number): void {
  running.add(pid);
}

/** Checks the machine: disk space, the clock, file descriptors, the address. */

import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { mib } from '../disk/room.ts';
import { about, type Finding } from '../finding.ts';
import { messageOf } from '../operator-error.ts';

const MIB = 1024 ** 2;
/** Free space below which writes may soon fail, bytes. */
const SPACE_BYTES_MIN = 64 * MIB;
const SPACE_BYTES_LOW = 512 * MIB;
const INODES_MIN = 1_000;

/**
 * Checks the free space on the disk of `folder`, which needs `needBytes` more: for a copy during a
 * backup, or for a database that is restored.
 */
export function checkSpace(name: string, folder: string, needBytes: number): Finding[] {
  const say = about(name);
  const present = nearest(folder);
  try {
    const { bavail, bsize, ffree, files } = statfsSync(present);
    const free = bavail * bsize;
    const what = `${mib(free)} MiB are free on the disk of ${present}`;
    const todo = 'free space or enlarge the disk';
    if (free < SPACE_BYTES_MIN) return [say.problem(`it is full or nearly so: ${what}`, todo)];
    if (files > 0 && ffree < INODES_MIN) {
      return [say.problem(`only ${ffree} more files fit on the disk of ${present}`, todo)];
    }
    if (free < needBytes * 2 || free < SPACE_BYTES_LOW) {
      return [say.warning(`${what}, the database has ${mib(needBytes)} MiB`, todo)];
    }
    return [say.ok(what)];
  } catch (error) {
    return [
      say.warning(`the space of ${present} is unknown: ${messageOf(error)}`, 'check with df'),
    ];
  }
}

/** Returns the folder, or the nearest parent that exists. */
function nearest(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

/** The time of this program: a clock before it is wrong. */
const EARLIEST_MS = Date.UTC(2026, 10, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
/** The tolerated step back of a clock between two starts, ms. */
const DRIFT_MAX_MS = 5_000;

/** Checks the clock against `newestMs`, the latest time in database and backups; null: unknown. */
export function checkClock(nowMs: number, newestMs: number | null): Finding[] {
  const say = about('clock');
  const shown = new Date(nowMs).toISOString();
  const todo = 'set the clock, and have it kept by NTP (timedatectl set-ntp true)';
  if (nowMs < EARLIEST_MS) {
    return [say.problem(`it says ${shown}, which is before this program was written`, todo)];
  }
  if (nowMs > LATEST_MS) return [say.problem(`it says ${shown}`, todo)];
  if (newestMs !== null && newestMs > nowMs + DRIFT_MAX_MS) {
    const latest = new Date(newestMs).toISOString();
    const what = `it says ${shown}, but something is recorded at ${latest}: it is slow, or was fast`;
    return [say.problem(what, todo)];
  }
  return [say.ok(`it says ${shown}, after everything on record`)];
}

/** Files and sockets besides the streams. */
const OTHER_DESCRIPTORS = 256;

/** Checks the limit of open files in `limits`, the text of `/proc/self/limits`. */
export function checkDescriptors(limits: string, streamCountMax: number): Finding[] {
  const say = about('open files');
  const found = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (found === undefined) return [];
  const limit = found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found);
  const need = streamCountMax + OTHER_DESCRIPTORS;
  const what = `a process started from here may open ${found} files`;
  if (limit >= need) return [say.ok(what)];
  return [
    say.warning(
      `${what}, limits.streams_max would need ${need}`,
      `raise it (ulimit -n ${need}; LimitNOFILE=${need} in the systemd unit) or lower the setting`,
    ),
  ];
}

export function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** Checks whether the address is free, and whether it has TLS if it is not local. */
export function checkAddress(host: string, port: number, hasTls: boolean): Finding[] {
  const say = about('address');
  const shown = `${host}:${port}`;
  const findings: Finding[] = [];
  if (!hasTls && !/^(127\.|::1$|localhost$)/.test(host)) {
    const todo = 'set TLS certificates, or listen on 127.0.0.1 behind a proxy that has some';
    findings.push(say.warning(`${shown} is open to the network without TLS`, todo));
  }
  try {
    Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
    return [...findings, say.ok(`${shown} is free`)];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
    if (code === 'EADDRINUSE') {
      return [...findings, say.ok(`${shown} is taken: by gatepost itself, if it runs`)];
    }
    const todo = 'choose another with server.host and server.port';
    return [...findings, say.problem(`${shown} cannot be listened on (${code})`, todo)];
  }
}

/** Checks the address and the limit of open files: those of the running server, if there is one. */

import { readdirSync, readFileSync } from 'node:fs';
import { about, type Finding } from '../finding.ts';
import { messageOf } from '../operator-error.ts';
import { describeHolder, findPortHolder, portsOf } from '../port-holder.ts';
import { IDENTITY_HEADER, identityOf, notedMonitor } from '../whereabouts.ts';

/** A server that runs on the data directory. */
interface RunningServer {
  pid: number;
  /** Ports on which it listens, that of its monitor not included. */
  ports: readonly number[];
}

const ANSWER_MAX_MS = 2_000;
/** Files and sockets besides the streams. */
const OTHER_DESCRIPTORS = 256;
/** Where a package or an administrator puts the unit and its drop-ins; the last has precedence. */
const UNIT_FOLDERS = ['/usr/lib/systemd/system', '/etc/systemd/system'];
const UNIT = 'gatepost.service';
/** Ports below it need a right. */
const FREE_PORT_MIN = 1024;

/**
 * Finds the server that runs on a data directory, by the monitor that it noted there. Returns null
 * if there is none, or the system does not show its process to this user.
 */
export async function findServer(dataDir: string): Promise<RunningServer | null> {
  const url = notedMonitor(dataDir);
  const identity = identityOf(dataDir);
  if (url === null || identity === null) return null;
  const signal = AbortSignal.timeout(ANSWER_MAX_MS);
  const answer = await fetch(`${url}/readyz`, { signal }).catch(() => null);
  // A killed server may have left the note, and another program may have the port now.
  if (answer?.headers.get(IDENTITY_HEADER) !== identity) return null;
  const { hostname, port } = new URL(url);
  const monitorPort = Number(port);
  const holder = findPortHolder(hostname, monitorPort);
  if (holder === null) return null;
  return { pid: holder.pid, ports: portsOf(holder.pid).filter((port) => port !== monitorPort) };
}

/**
 * Checks the limit of open files of the server, else of the installed unit, else of this shell.
 * `root`: where the file system begins.
 */
export function checkDescriptors(
  server: RunningServer | null,
  streamCountMax: number,
  root = '',
): Finding[] {
  if (server !== null) {
    const who = `the server (process ${server.pid})`;
    return compareDescriptors(who, limitOfProcess(server.pid), streamCountMax);
  }
  const unit = readUnit(UNIT_FOLDERS.map((folder) => `${root}${folder}`));
  if (unit === null) {
    return compareDescriptors('a process started from here', limitOfProcess(null), streamCountMax);
  }
  const limits = unit.text.matchAll(/^LimitNOFILE=(?:\d+:)?(\d+|infinity)/gm);
  const limit = [...limits].at(-1)?.[1];
  return compareDescriptors(`a server started by ${unit.path}`, limit, streamCountMax);
}

/** Compares a limit of open files with the need; undefined: the limit is unknown. */
export function compareDescriptors(
  who: string,
  limit: string | undefined,
  streamCountMax: number,
): Finding[] {
  if (limit === undefined) return [];
  const say = about('open files');
  const need = streamCountMax + OTHER_DESCRIPTORS;
  const what = `${who} may open ${limit} files`;
  if (!(Number(limit) < need)) return [say.ok(what)];
  return [
    say.warning(
      'open_files_too_few',
      `${what}, limits.streams_max would need ${need}`,
      `raise it (ulimit -n ${need}; LimitNOFILE=${need} in the systemd unit) or lower the setting`,
    ),
  ];
}

/** Reads the limit of open files of a process; null: of this one. */
function limitOfProcess(pid: number | null): string | undefined {
  return /^Max open files\s+(\d+|unlimited)/m.exec(read(`/proc/${pid ?? 'self'}/limits`))?.[1];
}

/** Reads the unit and then its drop-ins by name, as systemd does; null: none is installed. */
function readUnit(folders: readonly string[]): { path: string; text: string } | null {
  const paths = folders.map((folder) => `${folder}/${UNIT}`);
  const unit = paths.map((path) => ({ path, text: read(path) })).findLast(({ text }) => text);
  if (unit === undefined) return null;
  const dropIns = new Map<string, string>();
  for (const folder of folders.map((one) => `${one}/${UNIT}.d`)) {
    for (const name of namesIn(folder).filter((one) => one.endsWith('.conf'))) {
      dropIns.set(name, read(`${folder}/${name}`));
    }
  }
  const names = [...dropIns.keys()].sort();
  const texts = [unit.text, ...names.map((name) => dropIns.get(name))];
  return { path: unit.path, text: texts.join('\n') };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Checks whether the server has the address, or it is free, and whether it needs TLS. */
export function checkAddress(
  server: RunningServer | null,
  { host, port }: { host: string; port: number },
  hasTls: boolean,
): Finding[] {
  const say = about('address');
  const shown = `${host}:${port}`;
  const findings: Finding[] = [];
  if (!hasTls && !/^(127\.|::1$|localhost$)/.test(host)) {
    const todo = 'set a TLS certificate, or listen on 127.0.0.1 behind a proxy with TLS';
    findings.push(
      say.warning('address_without_tls', `${shown} is open to the network without TLS`, todo),
    );
  }
  if (server !== null && server.ports.length > 0) {
    const which = `the server (process ${server.pid}) listens on port ${server.ports.join(', ')}`;
    const isOther = port !== 0 && !server.ports.includes(port);
    return [...findings, say.ok(isOther ? `${which}; these settings say ${port}` : which)];
  }
  return [...findings, tryAddress(host, port, shown)];
}

function tryAddress(host: string, port: number, shown: string): Finding {
  const say = about('address');
  try {
    Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
    return say.ok(`${shown} is free`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
    const todo = 'choose another with server.host and server.port';
    if (code === 'EADDRINUSE') {
      const holder = findPortHolder(host, port);
      // The server's process is unknown if its monitor is off.
      if (holder === null || holder.name === read('/proc/self/comm').trim()) {
        return say.ok(`${shown} is in use, perhaps by the server itself`);
      }
      return say.problem(
        'port_in_use',
        `${shown} is in use by ${describeHolder(holder)}`,
        `stop it, or ${todo}`,
      );
    }
    if (code === 'EACCES' && port < FREE_PORT_MIN) {
      const right = 'a unit needs AmbientCapabilities=CAP_NET_BIND_SERVICE for it';
      return say.ok(`${shown} was not checked, because this user may not listen there; ${right}`);
    }
    return say.problem('port_not_usable', `${shown} cannot be listened on (${code})`, todo);
  }
}

/** Checks whether a server runs on the data directory, and whether it serves. */

import { join } from 'node:path';
import { about, type Finding } from '../base/finding.ts';
import { hereInUrl, IDENTITY_HEADER, identityOf, notedMonitor } from '../base/whereabouts.ts';
import { type NotedServer, serverOn } from '../config/server-note.ts';
import { describeProcess } from '../disk/lock-holder.ts';
import { findPortHolder, portsOf } from '../http/port-holder.ts';

/** A server that runs on the data directory. */
interface RunningServer {
  /** The first of its processes; null: the system shows none. */
  pid: number | null;
  /** Ports on which it listens, that of its monitor not included; empty: none, or not shown. */
  ports: readonly number[];
  /** UTC ms; null: unknown. */
  startedAtMs: number | null;
  state: Serving;
}

/** `silent`: it does not answer. A sentence: it answers that it is not ready. */
type Serving = 'serves' | 'silent' | { notReady: string };

/** `unknown`: this user may not see whether one runs. */
export type ServerState = RunningServer | 'absent' | 'unknown';

const ANSWER_MAX_MS = 2_000;
/** The monitor waits 3 s for a write before it says that the database takes none, ms. */
const MONITOR_MAX_MS = 4_500;
const say = about('server');

/**
 * Finds the server that runs on a data directory, and asks it whether it is ready: at the monitor
 * that it noted there, else where it listens.
 */
export async function findServer(dataDir: string): Promise<ServerState> {
  const monitor = notedMonitor(dataDir);
  const health = monitor === null ? null : await askMonitor(monitor, identityOf(dataDir));
  const noted = serverOn(dataDir);
  if (health === null && typeof noted === 'string') return noted;
  const { note, pids }: NotedServer = typeof noted === 'string' ? { note: null, pids: [] } : noted;
  const monitorPort = monitor === null || health === null ? null : Number(new URL(monitor).port);
  const pid = pids[0] ?? (monitorPort === null ? null : holderOf(monitor ?? '')) ?? null;
  const seen = pid === null ? [] : portsOf(pid).filter((port) => port !== monitorPort);
  const ports = seen.length > 0 || !note?.url ? seen : [portOf(note.url)];
  const state = health ?? (note?.url ? await askHere(note.url) : 'serves');
  return { pid, ports, startedAtMs: note?.startedAtMs ?? null, state };
}

/** Returns null if the monitor is not that of this data directory, or not there. */
async function askMonitor(url: string, identity: string | null): Promise<Serving | null> {
  const signal = AbortSignal.timeout(MONITOR_MAX_MS);
  try {
    const answer = await fetch(`${url}/readyz`, { signal });
    // A killed server may have left the note, and another program may have the port now.
    if (identity === null || answer.headers.get(IDENTITY_HEADER) !== identity) return null;
    const { detail } = (await answer.json()) as { detail?: unknown };
    return answer.ok ? 'serves' : { notReady: `${detail}` };
  } catch {
    return signal.aborted ? 'silent' : null;
  }
}

/** Asks for any answer of the server itself. */
async function askHere(url: string): Promise<Serving> {
  const { protocol, hostname } = new URL(url);
  const host = hereInUrl(hostname.replace(/^\[(.*)\]$/, '$1'));
  const signal = AbortSignal.timeout(ANSWER_MAX_MS);
  try {
    await fetch(`${protocol}//${host}:${portOf(url)}/`, {
      signal,
      redirect: 'manual',
      tls: { rejectUnauthorized: false },
    });
    return 'serves';
  } catch {
    return 'silent';
  }
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

function holderOf(url: string): number | null {
  const { hostname } = new URL(url);
  return findPortHolder(hostname, portOf(url))?.pid ?? null;
}

interface Surroundings {
  dataDir: string;
  /** Other nodes that serve the database. */
  otherNodes: readonly string[];
  /** Whether a unit of systemd starts the server. */
  hasUnit: boolean;
}

/** Says whether the server runs, since when, and whether it serves. */
export function checkServer(
  server: ServerState,
  { dataDir, otherNodes, hasUnit }: Surroundings,
): Finding[] {
  const log = hasUnit ? "'journalctl -u gatepost -n 50'" : 'its log';
  if (server === 'unknown') {
    const file = join(dataDir, 'gatepost-settings.lock');
    return [
      say.warning(
        'server_state_unknown',
        `this user may not see whether a server runs: ${file} shows it to the user of the service`,
        'run the doctor as the user of the service, or as root',
      ),
    ];
  }
  if (server === 'absent') {
    const start = hasUnit ? "'systemctl start gatepost'" : "'gatepost serve'";
    const todo = `start it with ${start}; if it ends at once, ${log} has the reason`;
    const what = `no server runs on ${dataDir}`;
    if (otherNodes.length === 0) return [say.problem('server_not_running', what, todo)];
    const others = otherNodes.join(', ');
    return [say.warning('node_not_running', `${what}; the database is served by ${others}`, todo)];
  }
  const { pid, startedAtMs, state } = server;
  const who = pid === null ? 'the server' : `the server, ${describeProcess(pid)},`;
  const since = startedAtMs === null ? '' : ` since ${new Date(startedAtMs).toISOString()}`;
  const what = `${who} runs${since}`;
  if (state === 'serves') return [say.ok(what)];
  if (state === 'silent') {
    const todo = `look into ${log}, then restart it: it hangs, or is stopped`;
    return [say.problem('server_silent', `${what}, and does not answer`, todo)];
  }
  return [
    say.problem(
      'server_not_ready',
      `${what}, and is not ready: ${state.notReady}`,
      `see what it waits for in ${log}`,
    ),
  ];
}

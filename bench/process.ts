/**
 * Servers under measurement: started on one core, watched through /proc, stopped by their own id.
 */

import { readFileSync } from 'node:fs';
import type { Subprocess } from 'bun';

/**
 * /proc counts processor time in ticks of 10 ms (USER_HZ is 100 on every Linux that Bun runs on).
 */
const TICK_S = 0.01;
const START_MAX_MS = 10_000;

/** Processes that run, each with the signal that ends it at once. */
const running = new Map<Subprocess, NodeJS.Signals>();

/** Stops every server at once: for the end of the bench, however it ends. */
export function stopAll(): void {
  for (const [child, signal] of running) child.kill(signal);
}

export interface Memory {
  rssKib: number;
  pssKib: number;
  anonymousKib: number;
  /** Memory without the pages of files, which other processes may share; with shared memory. */
  ownKib: number;
}

export interface Server {
  url: string;
  pid: number;
  /** Processor time used so far by all threads, seconds. */
  cpuSeconds(): number;
  memory(): Memory;
  /** The most memory that it had so far. */
  peakMib(): number;
  stop(): Promise<void>;
}

/** Puts a command on one core; on a machine with a single one it stays where it is. */
function onCore(core: number, command: string[]): string[] {
  return navigator.hardwareConcurrency > 1 ? ['taskset', '-c', String(core), ...command] : command;
}

const [SERVER_CORE, LOAD_CORE] = [0, 1];
export const onServerCore = (command: string[]) => onCore(SERVER_CORE, command);
export const onLoadCore = (command: string[]) => onCore(LOAD_CORE, command);

/** From here on this process and what it starts is beside the server, not on its core. */
export function leaveServerCore(): void {
  if (navigator.hardwareConcurrency > 1) {
    Bun.spawnSync(['taskset', '-a', '-p', '-c', String(LOAD_CORE), String(process.pid)]);
  }
}

/** Neither a file of the machine nor a monitor, which only one of several could have. */
const ALONE = {
  GATEPOST_CONFIG: 'none',
  GATEPOST_MONITOR_PORT: 'off',
  GATEPOST_LOG_LEVEL: 'error',
};

/**
 * Starts a process that is stopped at the latest when the bench ends; `endSignal` is another than
 * SIGKILL for one that then leaves processes or shared memory behind.
 */
export function spawnKept<In extends 'ignore' | 'pipe' = 'ignore'>(
  command: string[],
  env: Record<string, string> = {},
  endSignal: NodeJS.Signals = 'SIGKILL',
  stdin: In = 'ignore' as In,
) {
  const child = Bun.spawn(command, {
    env: { PATH: process.env['PATH'] ?? '', ...ALONE, ...env },
    stdin,
    stdout: 'pipe',
    stderr: 'inherit',
  });
  running.set(child, endSignal);
  return child;
}

/** Starts a server and waits for its line `… listening on URL`. */
export async function startServer(
  command: string[],
  env: Record<string, string> = {},
): Promise<Server> {
  const child = spawnKept(command, env);
  const timer = setTimeout(() => child.kill(), START_MAX_MS);
  let text = '';
  let url: string | undefined;
  const reader = child.stdout.getReader();
  while (url === undefined) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${command.join(' ')} did not start: ${text}`);
    text += new TextDecoder().decode(value);
    url = /listening on (http:\/\/\S+)\n/.exec(text)?.[1];
  }
  clearTimeout(timer);
  return serverOf(child, url);
}

/** A process that serves at `url`, measured together with the processes that it started. */
export function serverOf(child: Subprocess, url: string): Server {
  return {
    url,
    pid: child.pid,
    cpuSeconds: () => sum(processTree(child.pid).map(cpuSecondsOf)),
    peakMib: () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    memory: () => totalMemory(processTree(child.pid).map(memoryOf)),
    stop: async () => {
      child.kill();
      await child.exited;
      running.delete(child);
    },
  };
}

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);

export function totalMemory(each: readonly Memory[]): Memory {
  const of = (name: keyof Memory) => sum(each.map((memory) => memory[name]));
  return {
    rssKib: of('rssKib'),
    pssKib: of('pssKib'),
    anonymousKib: of('anonymousKib'),
    ownKib: of('ownKib'),
  };
}

function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...(children.match(/\d+/g) ?? []).map(Number).flatMap(processTree)];
}

/** Processor time of a process and of its children that ended and were waited for, seconds. */
function cpuSecondsOf(pid: number): number {
  // The name in the second field may hold blanks: count from behind its parenthesis.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return sum(fields.slice(11, 15).map(Number)) * TICK_S;
}

function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(rollup)?.[1]);
  return {
    rssKib: kib('Rss'),
    pssKib: kib('Pss'),
    anonymousKib: kib('Anonymous'),
    ownKib: kib('Pss_Anon') + kib('Pss_Shmem'),
  };
}

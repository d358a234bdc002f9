/** Runs the operator's program that creates and removes TXT records, as a process group. */

import { OperatorError } from '../operator-error.ts';

/** The time limit of a hook, ms: the record should be visible when it ends. */
const TIME_MAX_MS = 5 * 60_000;
/** The time from SIGTERM to SIGKILL, ms. */
const GRACE_MS = 2_000;
/** The environment of a hook: other variables may be secret. */
const HOOK_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
/** Bytes of stderr that are kept; a failure is reported with the first line. */
const ERRORS_BYTES_MAX = 4096;
const REASON_LENGTH_MAX = 200;

/**
 * Runs `hook action name value`. Ends it with all its processes on `signal` or after the time
 * limit. Throws {@link OperatorError} unless it exits with 0.
 */
export async function runHook(
  words: readonly [hook: string, action: string, name: string, value: string],
  signal: AbortSignal,
): Promise<void> {
  const [hook, action] = words;
  if (signal.aborted) throw new OperatorError(`${hook} ${action} was not run: the server stops`);
  const child = Bun.spawn([...words], {
    env: HOOK_ENV,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // Its own process group: a shell passes no signal to the programs that it waits for.
    detached: true,
  });
  const errors = firstBytes(child.stderr);
  let force: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    endGroup(child.pid, 'SIGTERM');
    force = setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE_MS);
  };
  const tooLong = setTimeout(end, TIME_MAX_MS);
  signal.addEventListener('abort', end);
  try {
    await child.exited;
  } finally {
    clearTimeout(tooLong);
    clearTimeout(force);
    signal.removeEventListener('abort', end);
  }
  if (child.exitCode === 0) return;
  // Leftover processes would keep stderr open and outlive the server.
  endGroup(child.pid, 'SIGKILL');
  const ended =
    child.exitCode === null ? `was ended by ${child.signalCode}` : `exited with ${child.exitCode}`;
  const line = (await errors).trim().split('\n')[0]?.slice(0, REASON_LENGTH_MAX) ?? '';
  throw new OperatorError(`${hook} ${action} ${ended}${line === '' ? '' : `: ${line}`}`);
}

function endGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Reads a stream to its end, so that its writer never blocks; returns the beginning. */
async function firstBytes(stream: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of stream) {
    if (count < ERRORS_BYTES_MAX) chunks.push(chunk.subarray(0, ERRORS_BYTES_MAX - count));
    count += chunk.length;
  }
  return Buffer.concat(chunks).toString();
}

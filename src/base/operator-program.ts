/** Runs a program that the operator named, as a process group with nothing of our environment. */

/** The environment: other variables may be secret. */
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
/** The time from SIGTERM to SIGKILL, ms. */
const GRACE_MS = 2_000;
/** Bytes of stderr that are kept. */
const ERRORS_BYTES_MAX = 4096;

interface ProgramEnd {
  /** Null: a signal ended it. */
  exitCode: number | null;
  signalCode: string | null;
  /** True: it took longer than `timeMaxMs`. */
  isLate: boolean;
  /** The beginning of its stderr; empty if it succeeded and `mayLeaveRest`. */
  errors: string;
}

interface ProgramBounds {
  timeMaxMs: number;
  /** Whether processes that it leaves behind after a success go on. */
  mayLeaveRest: boolean;
}

/**
 * Runs a command line. Ends it with all its processes on `signal` or after the time limit. Throws
 * the system's error if it cannot be started.
 */
export async function runProgram(
  words: readonly string[],
  signal: AbortSignal,
  { timeMaxMs, mayLeaveRest }: ProgramBounds,
): Promise<ProgramEnd> {
  const child = Bun.spawn([...words], {
    env: ENVIRONMENT,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // Its own process group: a shell passes no signal to the programs that it waits for.
    detached: true,
  });
  const errors = firstBytes(child.stderr);
  let force: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const end = () => {
    endGroup(child.pid, 'SIGTERM');
    force = setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE_MS);
  };
  const tooLong = setTimeout(() => {
    isLate = true;
    end();
  }, timeMaxMs);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    await child.exited;
  } finally {
    clearTimeout(tooLong);
    clearTimeout(force);
    signal.removeEventListener('abort', end);
  }
  const { exitCode, signalCode } = child;
  const ended = { exitCode, signalCode: signalCode === null ? null : `${signalCode}`, isLate };
  if (exitCode === 0 && mayLeaveRest) return { ...ended, errors: '' };
  // Leftover processes would keep stderr open and outlive the server.
  endGroup(child.pid, 'SIGKILL');
  return { ...ended, errors: await errors };
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

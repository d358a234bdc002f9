/** Commands of this program that run beside the server, so that no call waits for their work. */

/** Returns the command line of this program: the executable, or Bun with its source. */
export function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith('/$bunfs/');
  return isCompiled ? [process.execPath] : [process.execPath, `${import.meta.dir}/main.ts`];
}

/** The output of a command, and how it ended. */
export interface Ended {
  /** The exit code; null: it took too long, or the server stops. */
  exitCode: number | null;
  printed: string;
  complaint: string;
}

/** Runs a command with this program's environment. */
export type RunOwn = (words: readonly string[], signal: AbortSignal) => Promise<Ended>;

export const runOwn: RunOwn = async (words, signal) => {
  const child = Bun.spawn([...ownCommand(), ...words], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: process.env },
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const [printed, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exitCode: signal.aborted ? null : child.exitCode, printed, complaint };
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

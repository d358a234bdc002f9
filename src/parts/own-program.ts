/** Commands of this program that run beside the server, so that no call waits for their work. */

const IS_COMPILED = Bun.main.startsWith('/$bunfs/');

/**
 * Whether this is the program of the Debian package or the image. Its path says so, at the start:
 * an upgrade renames the file of a program that runs.
 */
export const IS_PACKAGED = IS_COMPILED && process.execPath === '/usr/bin/gatepost';

/** Returns the command line of this program: the executable, or Bun with its source. */
export function ownCommand(): string[] {
  return IS_COMPILED ? [process.execPath] : [process.execPath, `${import.meta.dir}/../main.ts`];
}

let settings: Readonly<Record<string, string | undefined>> = {};

/** Keeps the settings of an environment for commands of this program, after it gave up the rest. */
export function keepSettings(env: Readonly<Record<string, string | undefined>>): void {
  const own = Object.entries(env).filter(([name]) => name.startsWith('GATEPOST_'));
  settings = Object.fromEntries(own);
}

/** Returns the environment of a process that reads what a stranger made: no settings are in it. */
export const bareEnvironment = () => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
});

/** The output of a command, and how it ended. */
export interface Ended {
  /** The exit code; null: it took too long, or the server stops. */
  exitCode: number | null;
  printed: string;
  complaint: string;
}

/** Runs a command with this program's environment and settings. */
export type RunOwn = (words: readonly string[], signal: AbortSignal) => Promise<Ended>;

export const runOwn: RunOwn = async (words, signal) => {
  const child = Bun.spawn([...ownCommand(), ...words], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...settings },
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

/** SIGTERM and SIGINT, by which commands that take long are ended. */

const NAMES = ['SIGTERM', 'SIGINT'] as const;

/** Settles with the next of them. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of NAMES) process.once(name, () => resolve());
  });
}

/** Runs `work` with an abort signal for its orderly end: nothing half-made may stay. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const name of NAMES) process.on(name, interrupt);
  try {
    return await work(interrupted.signal);
  } finally {
    for (const name of NAMES) process.off(name, interrupt);
  }
}

/** SIGTERM and SIGINT, which end long commands. */

const NAMES = ['SIGTERM', 'SIGINT'] as const;

/** Waits for the next of them. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of NAMES) process.once(name, () => resolve());
  });
}

/** Runs `work`; the signals abort it, so that it can clean up. */
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

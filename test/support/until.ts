/** The time for anything on a busy machine before a test gives up, ms. */
export const PATIENCE_MS = 60_000;

/** The pause between two probes grows with the time waited: long waits cost no processor. */
const PAUSE_MAX_MS = 15;
const WAIT_PER_PAUSE = 20;

/** Asks until `probe` has an answer; throws after `patienceMs`. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > patienceMs) throw new Error(`waited ${patienceMs} ms in vain: ${what}`);
    const found = await probe();
    if (found !== undefined && found !== null && found !== false) return found;
    await Bun.sleep(Math.min(PAUSE_MAX_MS, 1 + waitedMs / WAIT_PER_PAUSE));
  }
}

/** Waits until what a page shows is this; else throws with what it showed at last. */
export async function becomes<T>(shown: () => Promise<T>, expected: T): Promise<void> {
  let last: T | undefined;
  const isThere = async () => {
    last = await shown();
    return Bun.deepEquals(last, expected);
  };
  await until(`${JSON.stringify(expected)} on the page`, isThere).catch(() => {
    throw new Error(`the page shows ${JSON.stringify(last)}, not ${JSON.stringify(expected)}`);
  });
}

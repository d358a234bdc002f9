/** The time for anything on a busy machine before a test gives up, ms. */
export const PATIENCE_MS = 30_000;

/** Asks again and again until `probe` has an answer; throws when patience is over. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const giveUpMs = performance.now() + patienceMs;
  while (performance.now() < giveUpMs) {
    const found = await probe();
    if (found !== undefined && found !== null && found !== false) return found;
    await Bun.sleep(1);
  }
  throw new Error(`waited ${patienceMs} ms in vain: ${what}`);
}

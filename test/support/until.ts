/** How often it is asked at least: a machine that lets the test hardly run has not waited yet. */
const LOOKS_MIN = 500;

/** Waits for a condition by asking again and again; gives up with a message of its own. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  deadlineMs = 5_000,
): Promise<void> {
  const startMs = performance.now();
  for (let looks = 1; !(await isSo()); looks++) {
    if (performance.now() - startMs > deadlineMs && looks > LOOKS_MIN) {
      throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

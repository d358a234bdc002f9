/** Resolves after all other ready work has run, so that long work shares the thread. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets everything else that is ready run first: how long work shares the one thread. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

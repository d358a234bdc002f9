/** The longest text that is remembered, because callers choose it. */
const LENGTH_MAX = 256;

/** Returns `make` with a cache of `countMax` texts; the cache is emptied when it is full. */
export function remembering<T>(countMax: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (text.length > LENGTH_MAX) return made;
    if (known.size >= countMax) known.clear();
    known.set(text, made);
    return made;
  };
}

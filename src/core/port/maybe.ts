/**
 * A value, or a promise of one. A read that need not wait returns its value, because each promise
 * in the path of a request costs about as much as a look-up in memory.
 */
export type Maybe<T> = T | Promise<T>;

/** Calls `next` with the value: at once, or when its promise resolves. */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

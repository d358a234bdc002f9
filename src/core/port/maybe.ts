/**
 * A value that is there, or a promise of one. A read that needs no waiting answers at once: each
 * promise on the way of a request costs about as much as a look-up in memory.
 */
export type Maybe<T> = T | Promise<T>;

/** Goes on with `value`: at once if it is there, else when it settles. */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * A value, or a promise of one. A read that need not wait returns its value, because each promise
 * in the path of a request costs about as much as a look-up in memory.
 */
export type Maybe<T> = T | Promise<T>;

/** Calls `next` with the value: at once, or when its promise resolves. */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `act`, or maps its fault, then continues: at once unless `act` has to wait. */
export function settle<T, R = Response>(
  act: () => Maybe<T>,
  onFault: (fault: unknown) => T,
  next: (value: T) => Maybe<R>,
): Maybe<R> {
  let value: Maybe<T>;
  try {
    value = act();
  } catch (fault) {
    value = onFault(fault);
  }
  // One promise, not two: each costs a write as much as one of its statements.
  const failed = (fault: unknown) => next(onFault(fault));
  return value instanceof Promise ? value.then(next, failed) : next(value);
}

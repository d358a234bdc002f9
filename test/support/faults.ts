import type { Core } from '../../src/core/core.ts';
import type { Store } from '../../src/core/port/store.ts';

/** A part that may give way: a method of the store, or the core's own `pushKey`. */
export type FaultyMethod = keyof Store | 'pushKey';

/** A store that gives way on demand: `startTestApp({}, faults.wrap)`, then `faults.arm(...)`. */
export class Faults {
  #method: FaultyMethod | null = null;
  #error: unknown = null;
  /** Calls of the store that gave way. */
  count = 0;

  /** Lets `method` throw `error` from now on. */
  arm(method: FaultyMethod, error: unknown): void {
    this.#method = method;
    this.#error = error;
  }

  disarm(): void {
    this.#method = null;
  }

  wrap = (core: Core): Core => ({
    ...core,
    pushKey: () => {
      if (this.#method === 'pushKey') throw this.#error;
      return core.pushKey();
    },
    store: new Proxy(core.store, {
      get: (store, name) =>
        name === this.#method
          ? () => {
              this.count += 1;
              return Promise.reject(this.#error);
            }
          : Reflect.get(store, name).bind(store),
    }),
  });
}

import type { Core } from '../../src/core/core.ts';
import type { Store } from '../../src/core/port/store.ts';

/** A store that gives way on demand: `startTestApp({}, faults.wrap)`, then `faults.arm(...)`. */
export class Faults {
  #method: keyof Store | null = null;
  #error: unknown = null;

  /** Lets `method` throw `error` from now on. */
  arm(method: keyof Store, error: unknown): void {
    this.#method = method;
    this.#error = error;
  }

  wrap = (core: Core): Core => ({
    ...core,
    store: new Proxy(core.store, {
      get: (store, name) =>
        name === this.#method
          ? () => Promise.reject(this.#error)
          : Reflect.get(store, name).bind(store),
    }),
  });
}

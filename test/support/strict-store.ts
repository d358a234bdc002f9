/** A store as another may be built: a class, whose methods need their object, and never at once. */

import type { Store } from '../../src/core/port/store.ts';
import { nextTurn } from '../../src/core/turn.ts';

/** The methods that answer without a promise by their nature. */
const AT_ONCE = ['watch', 'exportProvider', 'onBehalfOf', 'continueAs'];

/**
 * The store, with methods that throw when they are called off their object. With `isSlow` each
 * answers in a later turn of the event loop, whether it could answer at once or not.
 */
export function strictStore(store: Store, { isSlow = false } = {}): Store {
  const strict: Store = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return function (this: unknown, ...args: unknown[]) {
        if (this !== strict && this !== target) throw new Error(`${String(name)} has no store`);
        const ask = () => Reflect.apply(method, target, args);
        return isSlow && !AT_ONCE.includes(String(name)) ? nextTurn().then(ask) : ask();
      };
    },
  });
  return strict;
}

/** A store whose process is killed in the middle of a pass of reminders. */

import { type Store, withMethods } from '../../src/core/port/store.ts';
import type { Random } from './random.ts';

export class Killed extends Error {}

/** The steps of a pass that a kill may come before or after. */
const STEPS = ['nextReminded', 'claimPass', 'endPass', 'listCourses', 'tellCourses'] as const;
const MORE = ['listUnreminded', 'remind', 'listOpenReminders', 'endReminders'] as const;

/** A store whose process is killed after so many steps: nothing of it goes on. */
export function mortal(store: Store, left: { steps: number }, random: Random): Store {
  const replaced = [...STEPS, ...MORE].map((name) => {
    const method = store[name] as (...given: unknown[]) => Promise<unknown>;
    const dying = async (...given: unknown[]) => {
      if (left.steps < 0) throw new Killed(name);
      left.steps -= 1;
      if (left.steps < 0 && random.chance(0.5)) throw new Killed(name);
      const done = await method.call(store, ...given);
      if (left.steps < 0) throw new Killed(name);
      return done;
    };
    return [name, dying] as const;
  });
  return withMethods(store, Object.fromEntries(replaced) as Partial<Store>);
}

/** To be written: see the brief. */

import type { EventStore } from '../../core/port/event.ts';
import type { Context } from './context.ts';

const later = async (): Promise<never> => {
  throw new Error('not written yet');
};

export function eventStore(_context: Context): EventStore {
  return {
    addEvent: later,
    addNotice: later,
    forgetEvents: later,
  };
}

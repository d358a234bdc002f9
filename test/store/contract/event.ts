/** To be written: see the brief. */

import type { EventStore } from '../../../src/core/port/event.ts';
import type { Suite } from './fixture.ts';

const later: Suite = () => {};

export const eventContract: Record<keyof EventStore, Suite> = {
  addEvent: later,
  addNotice: later,
  forgetEvents: later,
};

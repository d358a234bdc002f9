/** To be written: see the brief. */

import type { OutboxStore } from '../../../src/core/port/outbox.ts';
import type { Suite } from './fixture.ts';

const later: Suite = () => {};

export const outboxContract: Record<keyof OutboxStore, Suite> = {
  claimDestinations: later,
  listDispatches: later,
  findPushMessage: later,
  settleDispatches: later,
  releaseDestinations: later,
  nextDispatchMs: later,
  resumeDestinations: later,
  listDestinations: later,
  outboxTotals: later,
  endHandedOver: later,
  forgetDestinations: later,
};

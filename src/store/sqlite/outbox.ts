/** To be written: see the brief. */

import type { OutboxStore } from '../../core/port/outbox.ts';
import type { Context } from './context.ts';

const later = async (): Promise<never> => {
  throw new Error('not written yet');
};

export function outboxStore(_context: Context): OutboxStore {
  return {
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
}

/** To be written: see the brief. */

import type { WebhookStore } from '../../core/port/webhook.ts';
import type { Context } from './context.ts';

const later = async (): Promise<never> => {
  throw new Error('not written yet');
};

export function webhookStore(_context: Context): WebhookStore {
  return {
    addWebhook: later,
    listWebhooks: later,
    findWebhook: later,
    updateWebhook: later,
    removeWebhook: later,
    listDeliveries: later,
    replayEvents: later,
  };
}

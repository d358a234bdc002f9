/** To be written: see the brief. */

import type { WebhookStore } from '../../../src/core/port/webhook.ts';
import type { Suite } from './fixture.ts';

const later: Suite = () => {};

export const webhookContract: Record<keyof WebhookStore, Suite> = {
  addWebhook: later,
  listWebhooks: later,
  findWebhook: later,
  updateWebhook: later,
  removeWebhook: later,
  listDeliveries: later,
  replayEvents: later,
};

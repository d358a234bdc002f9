import { baseUrl, integer, wholeDays } from '../readers.ts';
import { live } from '../setting.ts';

export const webhookSettings = {
  // Each has its own queue, and each event goes to all of them.
  webhooksPerOwnerMax: live('webhook.per_owner_max', '10', integer(0, 100), [
    'The most webhooks and Telegram chats of a provider, and of the operator.',
  ]),
  webhookKeepDays: live('webhook.keep_days', '7', integer(1, 365), [
    'Days for which events are kept, to be listed and replayed.',
  ]),
  webhookEndingDays: live('webhook.ending_days', '7,3,1', wholeDays, [
    'Days before the end of a subscription on which its provider gets an event; empty: none.',
  ]),
  telegramEndpoint: live('webhook.telegram_endpoint', 'https://api.telegram.org', baseUrl, [
    'The base URL of the Telegram Bot API, such as that of your own server.',
  ]),
} as const;

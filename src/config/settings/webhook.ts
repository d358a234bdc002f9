import { baseUrl, integer, wholeDays } from '../readers.ts';
import { setting } from '../setting.ts';

export const webhookSettings = {
  webhooksPerOwnerMax: setting({
    key: 'webhook.per_owner_max',
    env: 'GATEPOST_WEBHOOK_PER_OWNER_MAX',
    // Each has a queue of its own; an event is put into all of them.
    default: '10',
    ...integer(0, 100),
    about: ['How many webhooks and Telegram chats a provider may have, and how many the operator.'],
    isLive: true,
  }),
  webhookKeepDays: setting({
    key: 'webhook.keep_days',
    env: 'GATEPOST_WEBHOOK_KEEP_DAYS',
    default: '7',
    ...integer(1, 365),
    about: ['For how many days events are kept, to be looked at and to be told again.'],
    isLive: true,
  }),
  webhookEndingDays: setting({
    key: 'webhook.ending_days',
    env: 'GATEPOST_WEBHOOK_ENDING_DAYS',
    default: '7,3,1',
    read: wholeDays,
    about: ['How many days before the end of a subscription its provider is told; empty: never.'],
    isLive: true,
  }),
  telegramEndpoint: setting({
    key: 'webhook.telegram_endpoint',
    env: 'GATEPOST_WEBHOOK_TELEGRAM_ENDPOINT',
    default: 'https://api.telegram.org',
    read: baseUrl,
    about: ['Where the Bot API of Telegram answers, such as a server of your own.'],
    isLive: true,
  }),
} as const;

import type { webhooks as english } from '../en/webhooks.ts';
import type { Like } from '../texts.ts';

export const webhooks: Like<typeof english> = {};

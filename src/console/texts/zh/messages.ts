import type { messages as english } from '../en/messages.ts';
import type { Like } from '../texts.ts';

export const messages: Like<typeof english> = {};

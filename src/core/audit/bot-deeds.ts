/** Deeds about bots that fetch for their customers: see ./deeds.ts. */

import type { Bot } from '../port/bot.ts';
import type { Deed } from './entry.ts';

type Named = Pick<Bot, 'id' | 'host'>;

export const addBot = ({ id, host }: Named): Deed => ({ action: 'bot.add', object: { id, host } });

export const removeBot = ({ id, host }: Named): Deed => ({
  action: 'bot.remove',
  object: { id, host },
});

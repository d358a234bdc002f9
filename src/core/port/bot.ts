/** Bots that fetch subscriptions for their customers: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** A bot that is trusted by its secret, at one host of one provider. */
export interface Bot {
  id: number;
  /** The host in the addresses that it fetches: that of an upstream, or of a proxy. */
  host: string;
  name: string;
  createdAtMs: number;
}

/** A bot with what proves it. */
export interface TrustedBot {
  id: number;
  /** The code of its provider. */
  providerCode: string;
  /** SHA-256 of its secret. */
  secretHash: Uint8Array;
}

export interface NewBot extends Omit<Bot, 'id'>, Pick<TrustedBot, 'secretHash'> {
  providerId: number;
  /** The most bots of the provider. */
  countMax: number;
}

/** A fetch of a bot without a HWID. */
interface BotFetch {
  botId: number;
  /** SHA-256 of the subscription key, or of the code, hexadecimal. */
  keyHash: string;
  /** The UTC day, as days since 1970. */
  day: number;
  /** The most answers of a day and key. */
  countMax: number;
}

export interface BotStore {
  /** Adds a bot. Returns `bot_limit_reached` at `countMax`. */
  addBot(draft: NewBot, act: Act): Promise<{ id: number } | 'bot_limit_reached'>;
  /** Lists the bots of a provider, oldest first. */
  listBots(providerId: number): Maybe<Bot[]>;
  /** Lists the bots that are trusted at a host. */
  findBots(host: string): Maybe<TrustedBot[]>;
  /** Removes a bot, whose secret is worth nothing from then on. Returns false if there is none. */
  removeBot(providerId: number, id: number, act: Act): Promise<boolean>;
  /** Counts an answer. Returns false, and counts nothing, at `countMax` of the day and key. */
  countBotFetch(fetch: BotFetch): Promise<boolean>;
  /** Deletes some counts of days before a day. Returns false if there were none. */
  forgetBotFetches(beforeDay: number): Promise<boolean>;
}

/** The facts of links that fill placeholders of messages, and their part of the port. */

import type { Maybe } from './maybe.ts';
import type { ChangedButtons } from './reminder.ts';
import type { Figures } from './subscription-figures.ts';

/** The facts of a link; what is not known, and what the reader may not see, is null. */
export interface LinkFacts extends Figures {
  /** When the figures were read; null: there are none. */
  readAtMs: number | null;
  deviceCount: number;
  /** The limit that was set. */
  installLimit: number;
  greeting: string | null;
  /** A change by a key, before which reminders have the greeting; absent: none. */
  changed?: ChangedButtons & { confirmedAtMs: number };
  /** The zone of dates, as `+03:00`; null: that of the contract. */
  timeZone: string | null;
}

/** A reader of messages of a provider. */
export interface FillReader {
  deviceId: number;
  providerId: number;
}

export interface FillStore {
  /**
   * Finds the facts of the link of each reader, in their order: of the home link, if the device has
   * a slot there and registered by a link; for a browser, which has no slot, of its link, without
   * figures. Null: there is no such link.
   */
  findFillFacts(readers: readonly FillReader[]): Promise<(LinkFacts | null)[]>;
  /** Finds the facts of a link; null: no such link. */
  findLinkFacts(installId: number): Maybe<LinkFacts | null>;
  /**
   * Finds some links of a provider as examples: those whose subscriptions end next, then the newest
   * ones.
   */
  listFillExamples(
    providerId: number,
    nowMs: number,
    countMax: number,
  ): Promise<(LinkFacts & { installId: number })[]>;
}

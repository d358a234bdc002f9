/**
 * Folds: events that calls without credentials cause reach a receiver in bounded numbers. What is
 * beyond them within an hour is counted, and reported in one event when the hour is over.
 */

import { HOUR_MS } from '../calendar.ts';
import { type EventData, FOLDED_EVENT, type Happening } from '../port/event.ts';
import { hashKey, keyFingerprint } from '../secret.ts';

/** The most messages of refusals within an hour: about one link, and in one chat. */
const LINK_MESSAGES_MAX = 3;
const CHAT_MESSAGES_MAX = 30;
/** Phones that a link refuses within this time are one, ms. */
const TOGETHER_MS = 60_000;
/** The most numbers of links in a sum. */
const LINKS_NAMED_MAX = 10;

interface ToldLink {
  id: number;
  /** Messages in this hour, and the time of the last one, UTC ms. */
  told: number;
  lastMs: number;
  /** Hashes of the addresses of the phones in them. */
  addresses: string[];
  /** Refusals without a message. */
  refusals: number;
}

/** The messages of a receiver in an hour, and the sums of the rest. It is stored as JSON. */
export interface Fold {
  fromMs: number;
  /** Messages of refusals. */
  told: number;
  /** Links in those messages. */
  links: ToldLink[];
  /** Refusals without a message, and the phones that were refused for the first time. */
  refusals: number;
  phones: number;
  /** Other events that were left out. */
  events: number;
}

/** A phone that a link refused for the first, 10th, 100th … time. */
export interface RefusedPhone {
  installId: number;
  /** The network of the caller; null: unknown. */
  address: string | null;
  isFirst: boolean;
  /** Refusals since those that were counted before. */
  count: number;
}

export const newFold = (fromMs: number): Fold => ({
  fromMs,
  told: 0,
  links: [],
  refusals: 0,
  phones: 0,
  events: 0,
});

/** Returns the time at which the hour of a fold is over, UTC ms. */
export const foldEndMs = ({ fromMs }: Fold): number => fromMs + HOUR_MS;

/** Returns true if the hour is over, also because the clock was set back by more than that. */
export const isFoldOver = (fold: Fold, nowMs: number): boolean =>
  nowMs >= foldEndMs(fold) || nowMs < fold.fromMs - HOUR_MS;

/** Notes a refused phone. Returns true if it gets a message of its own. */
export function noteRefusal(fold: Fold, phone: RefusedPhone, nowMs: number): boolean {
  const address = phone.address === null ? null : keyFingerprint(hashKey(phone.address));
  const known = fold.links.find(({ id }) => id === phone.installId);
  const isShared = phone.isFirst && address !== null && known?.addresses.includes(address) === true;
  const isTogether = known !== undefined && nowMs < known.lastMs + TOGETHER_MS;
  const isFull = fold.told >= CHAT_MESSAGES_MAX || (known?.told ?? 0) >= LINK_MESSAGES_MAX;
  if (isShared || isTogether || isFull) {
    fold.refusals += phone.count;
    if (known !== undefined) known.refusals += phone.count;
    if (phone.isFirst && !isShared) fold.phones += 1;
    return false;
  }
  const link = known ?? { id: phone.installId, told: 0, lastMs: 0, addresses: [], refusals: 0 };
  if (known === undefined) fold.links.push(link);
  link.told += 1;
  link.lastMs = nowMs;
  fold.told += 1;
  if (address !== null) link.addresses.push(address);
  return true;
}

/** Returns the event with the sums of a fold; null: everything was sent. */
export function sumOfFold(fold: Fold): Happening | null {
  const { refusals, phones, events, links } = fold;
  if (refusals === 0 && events === 0) return null;
  const named = links.filter((link) => link.refusals > 0).sort((a, b) => b.refusals - a.refusals);
  const data: EventData = {
    ...(refusals > 0 && {
      refusals,
      phones,
      install_ids: named
        .slice(0, LINKS_NAMED_MAX)
        .map(({ id }) => id)
        .join(','),
    }),
    ...(events > 0 && { events }),
    since: new Date(fold.fromMs).toISOString(),
  };
  return { kind: FOLDED_EVENT, data };
}

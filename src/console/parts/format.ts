/** Numbers and times in the language of the page. */

import { nowMs, texts } from '../state.ts';
import { agentIn } from './agent.ts';

/** Caches `make()` by language: making a formatter takes a hundred times as long as formatting. */
export function kept<T>(make: (tag: string) => T): () => T {
  let made: { tag: string; it: T } | null = null;
  return () => {
    if (made?.tag !== texts.tag) made = { tag: texts.tag, it: make(texts.tag) };
    return made.it;
  };
}

const numbers = kept((tag) => new Intl.NumberFormat(tag));
const dates = kept((tag) => new Intl.DateTimeFormat(tag, { dateStyle: 'medium' }));
const nearDates = kept((tag) => new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short' }));
const percents = kept((tag) => new Intl.NumberFormat(tag, { style: 'percent' }));
const times = kept(
  (tag) => new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short' }),
);
const sizes = kept((tag) => {
  const megabyte = { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(tag, megabyte);
});
const days = kept(
  (tag) => new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);

export const number = (value: number) => numbers().format(value);

export const date = (ms: number) => dates().format(ms);

/** The time within which a date needs no year. */
const NEAR_MS = 300 * 86_400_000;

/** Returns a date without its year, if it is near. */
export const nearDate = (ms: number) =>
  Math.abs(ms - nowMs()) < NEAR_MS ? nearDates().format(ms) : date(ms);

/** Returns a share in whole per cent, never more than it is. */
export const percent = (share: number) => percents().format(Math.floor(share * 100) / 100);

export const time = (ms: number) => times().format(ms);

/** Returns bytes in megabytes with one decimal. */
export const megabytes = (bytes: number) => sizes().format(bytes / 1_000_000);

/** Returns a UTC day, such as `2026-11-23`, in short form. */
export const day = (text: string) => days().format(Date.parse(text));

/** Returns browser and system of a `User-Agent`, in two words. */
export function agent(text: string): string {
  const found = agentIn(text);
  return found === null ? text : texts.account.agent(found.browser, found.system);
}

/** Numbers and times in the language of the page. */

import { texts } from '../state.ts';
import { agentIn } from './agent.ts';

export const number = (value: number) => new Intl.NumberFormat(texts.tag).format(value);

export const date = (ms: number) =>
  new Intl.DateTimeFormat(texts.tag, { dateStyle: 'medium' }).format(ms);

export const time = (ms: number) =>
  new Intl.DateTimeFormat(texts.tag, { dateStyle: 'medium', timeStyle: 'short' }).format(ms);

/** Bytes in megabytes, to a tenth. */
export const megabytes = (bytes: number) =>
  new Intl.NumberFormat(texts.tag, {
    ...{ style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 },
  }).format(bytes / 1_000_000);

/** A UTC day, `2026-11-23`, in a few letters. */
export const day = (text: string) =>
  new Intl.DateTimeFormat(texts.tag, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(text),
  );

/** What a browser calls itself, in two words. */
export function agent(text: string): string {
  const found = agentIn(text);
  return found === null ? text : texts.account.agent(found.browser, found.system);
}

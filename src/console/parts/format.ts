/** Numbers and times in the language of the page. */

import { texts } from '../state.ts';

export const number = (value: number) => new Intl.NumberFormat(texts.tag).format(value);

export const date = (ms: number) =>
  new Intl.DateTimeFormat(texts.tag, { dateStyle: 'medium' }).format(ms);

export const time = (ms: number) =>
  new Intl.DateTimeFormat(texts.tag, { dateStyle: 'medium', timeStyle: 'short' }).format(ms);

/** A UTC day, `2026-11-23`, in a few letters. */
export const day = (text: string) =>
  new Intl.DateTimeFormat(texts.tag, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(text),
  );

const BROWSERS = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
] as const;
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'] as const;

/** What a browser calls itself, in two words. */
export function agent(text: string): string {
  const [name, pattern] = BROWSERS.find(([, one]) => one.test(text)) ?? [];
  const system = SYSTEMS.find((one) => text.includes(one));
  if (name === undefined || system === undefined) return text;
  return texts.account.agent(`${name} ${pattern?.exec(text)?.[1]}`, system);
}

/**
 * Placeholders of messages: `{days_left}` and others, filled for each device at the last moment.
 * `{days_left|soon}` has a text for devices without a value. A value has the language of the text
 * that it stands in.
 */

import { DAY_MS } from '../calendar.ts';
import { languageOf, SCRIPTS, tidyTag } from './locale.ts';

/** The facts of a device's link; null: not known, never, or without a limit. */
export interface FillValues {
  endsAtMs: number | null;
  totalBytes: number | null;
  usedBytes: number | null;
  deviceCount: number | null;
  installLimit: number | null;
  /** A text of the provider's about the link's user, of one line: its format has no other signs. */
  greeting: string | null;
}

/** The moment of filling, and the zone of dates. */
interface FillTime {
  nowMs: number;
  /** A name of the IANA database, or an offset like `+03:00`. */
  timeZone: string;
}

/** A language with the forms of its values. */
interface Forms {
  days(count: number): string;
  date(atMs: number, timeZone: string): string;
  bytes(count: number): string;
  number(count: number): string;
}

const PLACEHOLDERS = {
  days_left: ({ endsAtMs }, forms, { nowMs }) =>
    endsAtMs && forms.days(Math.max(0, Math.ceil((endsAtMs - nowMs) / DAY_MS))),
  end_date: ({ endsAtMs }, forms, { timeZone }) => endsAtMs && forms.date(endsAtMs, timeZone),
  traffic_left: ({ totalBytes, usedBytes }, forms) =>
    totalBytes === null || usedBytes === null
      ? null
      : forms.bytes(Math.max(0, totalBytes - usedBytes)),
  traffic_used: ({ usedBytes }, forms) => (usedBytes === null ? null : forms.bytes(usedBytes)),
  devices: ({ deviceCount }, forms) => (deviceCount === null ? null : forms.number(deviceCount)),
  limit: ({ installLimit }, forms) => (installLimit === null ? null : forms.number(installLimit)),
  greeting: ({ greeting }) => greeting,
} as const satisfies Record<
  string,
  (values: FillValues, forms: Forms, time: FillTime) => string | 0 | null
>;

type Placeholder = keyof typeof PLACEHOLDERS;
export const PLACEHOLDER_NAMES = Object.keys(PLACEHOLDERS) as readonly Placeholder[];

/** The most characters of a fallback. */
const FALLBACK_MAX = 60;
/** The most characters of a filled placeholder: of a fallback, a greeting, or a date in words. */
export const FILLED_LENGTH_MAX = FALLBACK_MAX;
/** Stands where a device has no value, and the text no fallback. */
const MISSING = '–';

const FOUND = new RegExp(`\\{([a-z_]{1,32})(?:\\|([^{}|<>]{0,${FALLBACK_MAX}}))?\\}`, 'g');

const isKnown = (name: string): name is Placeholder => Object.hasOwn(PLACEHOLDERS, name);

/** Returns the first placeholder of a text that is none of ours; null: there is none. */
export function unknownPlaceholder(text: string): string | null {
  for (const [found, name = ''] of text.matchAll(FOUND)) if (!isKnown(name)) return found;
  return null;
}

/** Returns the placeholders of a text, each once. */
export function placeholdersIn(text: string): Placeholder[] {
  const names = [...text.matchAll(FOUND)].map(([, name = '']) => name);
  return [...new Set(names)].filter(isKnown);
}

/** The language of the values in a text without a tag, by its script. */
const tagOf = (text: string): string =>
  [...SCRIPTS].find(([, script]) => script.test(text))?.[0] ?? 'en';

/**
 * Fills a plain text. `tag`: its language; absent: by its script. The values have no control and no
 * direction signs.
 */
export function fillText(text: string, values: FillValues, time: FillTime, tag?: string): string {
  if (!text.includes('{')) return text;
  const forms = formsOf(tag ?? tagOf(text));
  return text.replace(FOUND, (found, name: string, fallback?: string) => {
    if (!isKnown(name)) return found;
    const value = PLACEHOLDERS[name](values, forms, time);
    return value || (fallback ?? MISSING);
  });
}

/** Fills the texts of filtered HTML; tags stay, so that no value is in a link or an image. */
export function fillHtml(html: string, values: FillValues, time: FillTime, tag?: string): string {
  if (!html.includes('{')) return html;
  const language = tag ?? tagOf(html.replace(/<[^>]*>/g, ''));
  const inHtml = { ...values, greeting: values.greeting && escaped(values.greeting) };
  return html.replace(/<[^>]*>|[^<]+/g, (part) =>
    part.startsWith('<') ? part : fillText(part, inHtml, time, language),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');

const kept = new Map<string, Forms>();

/** Returns the forms of a language; each is made once. */
function formsOf(tag: string): Forms {
  const tidy = tidyTag(tag);
  const found = kept.get(tidy);
  if (found !== undefined) return found;
  const forms = makeForms(isSupported(tidy) ? tidy : 'en');
  // Tags come from messages: 64 of each, so that a few senders could fill the memory.
  if (kept.size < 100) kept.set(tidy, forms);
  return forms;
}

function isSupported(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const KIB = 1024;

/** ICU leaves units of bytes in Latin letters for some languages that write their own. */
const OWN_UNITS: Readonly<Record<string, readonly string[]>> = {
  fa: ['بایت', 'کیلوبایت', 'مگابایت', 'گیگابایت', 'ترابایت', 'پتابایت'],
};

function makeForms(tag: string): Forms {
  const number = new Intl.NumberFormat(tag, { maximumFractionDigits: 1 });
  const days = new Intl.NumberFormat(tag, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const own = OWN_UNITS[languageOf(tag)];
  return {
    number: (count) => number.format(count),
    days: (count) => days.format(count),
    date: (atMs, timeZone) =>
      new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone }).format(atMs),
    bytes: (count) => {
      const power = Math.min(
        UNITS.length - 1,
        Math.floor(Math.log(Math.max(1, count)) / Math.log(KIB)),
      );
      const amount = count / KIB ** power;
      if (own) return `${number.format(amount)} ${own[power]}`;
      const unit = UNITS[power];
      const form = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const;
      return new Intl.NumberFormat(tag, form).format(amount);
    },
  };
}

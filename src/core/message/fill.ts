/**
 * Placeholders of messages: `{days_left}` and others, filled for each device at the last moment.
 * `{days_left|soon}` has a text for devices without a value. A value has the language of the text
 * that it stands in.
 */

import { DAY_MS } from '../calendar.ts';
import { GREETING_LENGTH_MAX } from '../formats.ts';
import { byteLength } from '../json-input.ts';
import { remembering } from '../memo.ts';
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
  /** Returns the most bytes of each value. */
  longest(): Readonly<Record<Placeholder, number>>;
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
/** The most bytes of a greeting: it may consist of quotes, which HTML escapes. */
const GREETING_BYTES_MAX = '&quot;'.length * GREETING_LENGTH_MAX;
/** Stands where a device has no value, and the text no fallback. */
const MISSING = '–';

const FOUND = new RegExp(`\\{([a-z_]{1,32})(?:\\|([^{}|<>]{0,${FALLBACK_MAX}}))?\\}`, 'g');

const isKnown = (name: string): name is Placeholder => Object.hasOwn(PLACEHOLDERS, name);

/** A word in braces, which a sender meant as a placeholder. */
const BRACED = /\{\s*[\p{L}_][^{}]*\}/gu;

/** Returns the first placeholder of a text, known or not; null: it has none. */
export const placeholderIn = (text: string): string | null => text.match(BRACED)?.[0] ?? null;

/**
 * Returns the first placeholder of a text that cannot be filled: another name than ours, or a
 * fallback that is too long; null: there is none.
 */
export function unknownPlaceholder(text: string): string | null {
  const isOurs = (braced: string) =>
    [...braced.matchAll(FOUND)].some(([all, name = '']) => all === braced && isKnown(name));
  return text.match(BRACED)?.find((braced) => !isOurs(braced)) ?? null;
}

/**
 * Returns filtered HTML in which each placeholder has its greatest number of bytes in the language
 * of the text.
 */
export function longestFilled(html: string, tag?: string): string {
  if (!html.includes('{')) return html;
  const { longest } = formsOf(tag ?? tagOf(html.replace(/<[^>]*>/g, '')));
  return html.replace(FOUND, (found, name: string, fallback = MISSING) =>
    isKnown(name) ? 'x'.repeat(Math.max(longest()[name], byteLength(fallback))) : found,
  );
}

/** Splits filtered HTML into its tags and its texts. */
export const htmlParts = (html: string): { tags: string[]; texts: string[] } => {
  const parts = html.match(HTML_PART) ?? [];
  return {
    tags: parts.filter((part) => part.startsWith('<')),
    texts: parts.filter((part) => !part.startsWith('<')),
  };
};
const HTML_PART = /<[^>]*>|[^<]+/g;

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
  return html.replace(HTML_PART, (part) =>
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

/** More than ICU has languages; one that it does not have shares the forms of English. */
const LANGUAGES_MAX = 1_024;

const formsIn: (language: string) => Forms = remembering(LANGUAGES_MAX, (language) =>
  isSupported(language) ? makeForms(language) : formsIn('en'),
);

/** Returns the forms of the language of a tag. */
const formsOf = (tag: string): Forms => formsIn(languageOf(tidyTag(tag)));

function isSupported(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const KIB = 1024;
/** Zones whose dates are remembered for a language. */
const ZONES_MAX = 64;

/** ICU leaves units of bytes in Latin letters for some languages that write their own. */
const OWN_UNITS: Readonly<Record<string, readonly string[]>> = {
  fa: ['بایت', 'کیلوبایت', 'مگابایت', 'گیگابایت', 'ترابایت', 'پتابایت'],
};

function makeForms(tag: string): Forms {
  const number = new Intl.NumberFormat(tag, { maximumFractionDigits: 1 });
  const days = new Intl.NumberFormat(tag, { style: 'unit', unit: 'day', unitDisplay: 'long' });
  const own = OWN_UNITS[tag];
  const dates = remembering(
    ZONES_MAX,
    (timeZone) => new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone }),
  );
  const sizes = remembering(UNITS.length, (unit) => {
    const form = { style: 'unit', unitDisplay: 'short', maximumFractionDigits: 1 } as const;
    return new Intl.NumberFormat(tag, { ...form, unit });
  });
  const forms: Omit<Forms, 'longest'> = {
    number: (count) => number.format(count),
    days: (count) => days.format(count),
    date: (atMs, timeZone) => dates(timeZone).format(atMs),
    bytes: (count) => {
      const power = Math.min(
        UNITS.length - 1,
        Math.floor(Math.log(Math.max(1, count)) / Math.log(KIB)),
      );
      const amount = count / KIB ** power;
      return own
        ? `${number.format(amount)} ${own[power]}`
        : sizes(UNITS[power] as string).format(amount);
    },
  };
  let longest: ReturnType<Forms['longest']> | null = null;
  return {
    ...forms,
    longest: () => {
      longest ??= longestOf(forms);
      return longest;
    },
  };
}

/** Numbers of days with all plural forms, up to ten years: later ends are absent. */
const SOME_DAYS = [0, 1, 2, 3, 5, 10, 11, 20, 21, 22, 100, 101, 1_000, 1_001, 1_002, 1_005, 3_653];
/** Days of all months of two years, in each calendar. */
const SOME_DATES = Array.from({ length: 80 }, (_, n) => Date.UTC(2028, 0, 1 + 10 * n));

function longestOf(forms: Omit<Forms, 'longest'>): Record<Placeholder, number> {
  const most = (texts: string[]) => Math.max(...texts.map(byteLength));
  const bytes = most(UNITS.flatMap((_, n) => [1, 2, 1023.9].map((x) => forms.bytes(x * KIB ** n))));
  const count = byteLength(forms.number(100));
  return {
    days_left: most(SOME_DAYS.map(forms.days)),
    end_date: most(SOME_DATES.map((atMs) => forms.date(atMs, 'UTC'))),
    traffic_left: bytes,
    traffic_used: bytes,
    devices: count,
    limit: count,
    greeting: GREETING_BYTES_MAX,
  };
}

/**
 * Formats of values, each with its bounds, its rule as a text, and its reader (specification,
 * "Identifier formats" and "Limits"). HTTP makes its schemas and details from them, and the command
 * line its error messages. Values from files, other servers and devices go through the readers.
 */

import { FIGURE_DAYS } from './figures.ts';
import { readInteger } from './json-input.ts';
import { isRefused, type Misfit, malformed } from './outcome.ts';
import { DOMAIN_ACTIVE, DOMAIN_DISABLED } from './port/domain.ts';
import { OPERATOR_EVENTS, PROVIDER_EVENTS } from './port/event.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from './port/link.ts';
import { PLANS, RC2_BODY as RC2_BODY_WORDS } from './port/provider.ts';
import {
  COPIED_HWID as COPIED_HWID_WORDS,
  SAME_PHONE as SAME_PHONE_WORDS,
  WHEN_FULL as WHEN_FULL_WORDS,
  WHEN_NEW as WHEN_NEW_WORDS,
  WITHOUT_HWID as WITHOUT_HWID_WORDS,
} from './port/slot.ts';
import { CHAT_FACTS, WEBHOOK_LOCALES } from './port/webhook.ts';
import { tidyNote } from './text.ts';

export interface Format<T> {
  /** The rule after "must be". */
  readonly rule: string;
  /** Returns the value, or a misfit with the rule. */
  readonly read: Reader<T>;
}

export type Reader<T> = (value: unknown) => T | Misfit;

export type TextFormat = ReturnType<typeof text>;
export type WholeFormat = ReturnType<typeof whole>;
export type ChoiceFormat = Format<string | number> & {
  readonly values: readonly (string | number)[];
};

/** Makes a format of texts; `tidy` cleans a text before it is read. */
export function text(pattern: RegExp, rule: string, tidy?: (written: string) => string) {
  const misfit = malformed(`must be ${rule}`);
  const read: Reader<string> = (value) =>
    typeof value === 'string' && pattern.test(value) ? value : misfit;
  return { pattern, rule, read, tidy };
}

/** Makes a format of whole numbers, as numbers or digits. */
export function whole(
  minimum: number,
  maximum: number,
  rule = `a whole number from ${minimum} to ${maximum}`,
) {
  const misfit = malformed(`must be ${rule}`);
  const read: Reader<number> = (value) => {
    const number = readInteger(value);
    return number !== null && number >= minimum && number <= maximum ? number : misfit;
  };
  return { minimum, maximum, rule, read };
}

/** Makes a format of a few values; numbers may come as digits. */
export function choice<T extends string | number>(values: readonly T[]) {
  const last = values.at(-1);
  const rule = values.length < 2 ? `${last}` : `${values.slice(0, -1).join(', ')} or ${last}`;
  const misfit = malformed(`must be ${rule}`);
  const fits = (one: T, value: unknown) =>
    one === value || (typeof one === 'number' && one === readInteger(value));
  const read: Reader<T> = (value) => values.find((one) => fits(one, value)) ?? misfit;
  return { values, rule, read };
}

export type ListFormat = ReturnType<typeof list>;

/** Makes a format of lists of a few words, also between commas; `none` is the empty list. */
function list<T extends string>(words: readonly T[], none: string) {
  const rule = `${none}, or of ${words.join(', ')}`;
  const misfit = malformed(`must be ${rule}`);
  const read: Reader<readonly T[]> = (value) => {
    if (value === none) return [];
    const isText = typeof value === 'string';
    const given: unknown = isText ? value.split(',').map((one) => one.trim()) : value;
    if (!Array.isArray(given)) return misfit;
    const named = given.filter((one) => one !== '');
    if (isText && named.length === 0) return misfit;
    const isFit = named.every((one) => words.includes(one));
    return isFit ? words.filter((word) => named.includes(word)) : misfit;
  };
  return { words, none, rule, read };
}

export const PROVIDER_CODE = text(/^[A-Za-z0-9]{8}$/, '8 letters and digits');
export const readProviderCode = PROVIDER_CODE.read;

export const AUTH_KEY = text(/^[-_A-Za-z0-9]{32}$/, '32 letters, digits, - and _');
export const readAuthKey = AUTH_KEY.read;

export const PLAN = choice(PLANS);
export const RC2_BODY = choice(RC2_BODY_WORDS);

/** The code of a link; those of imported links may be shorter than new ones. */
export const INSTALL_CODE = text(/^[A-Za-z0-9]{8,12}$/, '8 to 12 letters and digits');
export const readInstallCode = INSTALL_CODE.read;

/** The code of a new link. */
export const NEW_INSTALL_CODE = text(/^[A-Za-z0-9]{12}$/, '12 letters and digits');

/**
 * The code of a new link of a provider that accepts short ones. One under 12 characters must not be
 * a number that others know, such as that of a chat, nor a word.
 */
export const CHOSEN_CODE = text(
  /^(?:[A-Za-z0-9]{12}|(?![0-9]*$)(?![a-z]*$)(?![A-Z]*$)[A-Za-z0-9]{8,11})$/,
  '12 letters and digits, or 8 to 11 that mix digits and letters or both cases of letters',
);

/** Returns whether a text may be a code under 12 characters, which can be guessed. */
export const isShortCode = (code: unknown): boolean =>
  typeof code === 'string' && /^[A-Za-z0-9]{8,11}$/.test(code);

export const INSTALL_LIMIT = whole(1, 100);
export const readInstallLimit = INSTALL_LIMIT.read;

/** Parts of a policy: see core/slot.ts. */
export const INACTIVE_DAYS = whole(0, 3650);
export const WHEN_FULL = choice(WHEN_FULL_WORDS);
export const COOL_DOWN_HOURS = whole(1, 720);
export const FLAG = choice([0, 1]);
export const ENFORCE = FLAG;
export const WITHOUT_HWID = choice(WITHOUT_HWID_WORDS);
export const SAME_PHONE = choice(SAME_PHONE_WORDS);
export const SAME_PHONE_HOURS = whole(1, 720);
export const COPIED_HWID = choice(COPIED_HWID_WORDS);
export const WHEN_NEW = choice(WHEN_NEW_WORDS);

export const INSTALL_STATUS = choice([INSTALL_DISABLED, INSTALL_ACTIVE]);
export const readInstallStatus = INSTALL_STATUS.read;

export const DOMAIN_STATUS = choice([DOMAIN_DISABLED, DOMAIN_ACTIVE]);
export const readDomainStatus = DOMAIN_STATUS.read;

/** The stricter of the two patterns of the specification. */
export const DOMAIN_HASH = text(/^[a-f0-9]{64}$/, '64 lower-case hexadecimal digits');
export const readDomainHash = DOMAIN_HASH.read;

/** Opaque: never parsed, with its case. */
export const HWID = text(
  /^[\x21-\x2b\x2d-\x7e]{1,128}$/,
  '1 to 128 visible ASCII characters without comma',
);
export const readHwid = HWID.read;

export const SHARED_HWID = 'no-hwid-';

/** Returns the HWID that stands for all apps of a link without a HWID: they count as one device. */
export const sharedHwid = (installId: number) => `${SHARED_HWID}${installId}`;

export const isSharedHwid = (hwid: string) => hwid.startsWith(SHARED_HWID);

/**
 * Returns the HWID of the device that a further phone of a HWID is, as `x~2` of `x`; null: it would
 * be too long.
 */
export function derivedHwid(base: string, number: number): string | null {
  const hwid = readHwid(`${base}~${number}`);
  return isRefused(hwid) ? null : hwid;
}

/** Returns the HWID and the number in a HWID of {@link derivedHwid}'s form; null: another form. */
export function derivedFrom(hwid: string): { base: string; number: number } | null {
  const [, base, number] = /^(.+)~([2-9]|[1-9][0-9])$/.exec(hwid) ?? [];
  return base === undefined ? null : { base, number: Number(number) };
}

const HASHED_HWID = 'sha256:';

/**
 * Returns the HWID of a slot that is known only by the SHA-256 of a HWID, 64 lower-case hexadecimal
 * digits. The device takes the slot over when it comes.
 */
export const hwidOfHash = (hash: string) => `${HASHED_HWID}${hash}`;

/** Returns the hash in a {@link hwidOfHash}; null: another HWID. */
export const hashInHwid = (hwid: string) => /^sha256:([0-9a-f]{64})$/.exec(hwid)?.[1] ?? null;

/**
 * Reads the HWID that a device sends. Returns a misfit for one of {@link sharedHwid} or
 * {@link hwidOfHash}.
 */
export function readOwnHwid(value: unknown): string | Misfit {
  const hwid = readHwid(value);
  if (isRefused(hwid)) return malformed(`hwid must be ${HWID.rule}`);
  if (isSharedHwid(hwid)) return malformed(`hwid must not begin with ${SHARED_HWID}`);
  return hashInHwid(hwid) ? malformed('hwid must not be a hash: send the HWID itself') : hwid;
}

/** The key by which a provider may repeat a call. */
export const IDEMPOTENCY_KEY = text(/^[\x21-\x7e]{1,64}$/, '1 to 64 visible ASCII characters');

/** 256 random bits in base64url. */
export const DEVICE_TOKEN = text(/^[-_A-Za-z0-9]{43}$/, '43 letters, digits, - and _');
export const readDeviceToken = DEVICE_TOKEN.read;

/** Code points of a line: specification, "Limits". */
export const ONE_LINE_LENGTH_MAX = 255;

/** Excludes control characters, separators of lines and paragraphs, and malformed UTF-8. */
const ONE_LINE_PATTERN = new RegExp(
  `^[^\\p{Cc}\\p{Cs}\\u2028\\u2029\\uFFFD]{0,${ONE_LINE_LENGTH_MAX}}$`,
  'u',
);

/** The name of a binding or a provider. */
export const ONE_LINE = text(
  ONE_LINE_PATTERN,
  `one line of up to ${ONE_LINE_LENGTH_MAX} characters in UTF-8`,
);
export const readOneLine = ONE_LINE.read;

/** The name of a provider; blanks around it go. */
export const PROVIDER_NAME: Format<string> = {
  rule: `${ONE_LINE.rule}, not blank`,
  read(value) {
    const name = readOneLine(typeof value === 'string' ? value.trim() : value);
    return name === '' ? malformed('must not be blank') : name;
  },
};

/** The most links of a provider. */
export const LINK_CAP = whole(0, 999_999_999);

/** A note: stored as one line, may be written on several. */
export const NOTE = text(
  ONE_LINE_PATTERN,
  `a text of up to ${ONE_LINE_LENGTH_MAX} characters in UTF-8`,
  tidyNote,
);

/** The most code points of a greeting. */
export const GREETING_LENGTH_MAX = 40;
/**
 * A text that `{greeting}` of messages shows. Users see it in pages, headers and pushes, so it has
 * no sign that changes their lines or directions; joiners stay, which emoji and Persian need.
 */
export const GREETING = text(
  new RegExp(
    `^(?=.*\\S)(?:[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\uFFFD]|[\\u200C\\u200D]){1,${GREETING_LENGTH_MAX}}$`,
    'u',
  ),
  `one line of 1 to ${GREETING_LENGTH_MAX} characters in UTF-8, without signs of direction`,
);

/** The most characters of a button's address. */
export const BUTTON_URL_LENGTH_MAX = 255;

/** Characters after the host of a URL, and a host with its port. */
const URL_REST = "[\\w.~:/?#[\\]@!$&'()*+,;=%-]";
const URL_HOST = '[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[1-9][0-9]{0,4})?';

/** The address of a button beside a subscription: a page without a user, or a place in Telegram. */
export const BUTTON_URL = text(
  new RegExp(
    `^(?=.{1,${BUTTON_URL_LENGTH_MAX}}$)(?:[Hh][Tt][Tt][Pp][Ss]?://${URL_HOST}(?:[/?#]${URL_REST}*)?|tg://${URL_REST}+)$`,
  ),
  `an http, https or tg URL of up to ${BUTTON_URL_LENGTH_MAX} ASCII characters`,
);

/** The levels of rides that a provider may choose; they are below the operator's. */
export const RIDE = choice(['off', 'notifications'] as const);
export const BUTTONS = choice(['always'] as const);

/** The name and the colour of the page of a provider's users. */
export const PAGE_NAME = text(
  /^(?=.*\S)[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]{1,64}$/u,
  'one line of 1 to 64 characters in UTF-8',
);
export const PAGE_COLOR = text(/^#[0-9a-fA-F]{6}$/, '# and six hexadecimal digits');

/** A text in a search for links. */
export const LINK_SEARCH = text(
  /^[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]{1,64}$/u,
  'a text of 1 to 64 characters in UTF-8',
);
export const readLinkSearch = LINK_SEARCH.read;

/** A time of the day, and a zone as its distance from UTC. */
export const DAY_TIME = text(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of the day, 00:00 to 23:59');
export const TIME_ZONE = text(
  /^(?:[+-](?:0\d|1[0-3]):(?:00|15|30|45)|[+]14:00)$/,
  'a distance from UTC in quarters of an hour, as +03:00',
  // A plus sign in a query is a blank.
  (written) => written.replace(/^ /, '+'),
);

/** The id of a record in a request. */
export const RECORD_ID = whole(0, 999_999_999_999_999, 'a whole number of 1 to 15 digits');
export const readRecordId = RECORD_ID.read;

export const PUSH_TYPE = choice(['force', 'optional'] as const);

/** Days until a notification expires: specification, "Limits". */
export const EXPIRE_DAYS = whole(1, 365);

/** Number of UTC days of figures in a request. */
export const STATS_DAYS = whole(1, FIGURE_DAYS);

/**
 * A chat of Telegram as its Bot API names it, with `/` and the number of a topic for one topic of a
 * group; the numbers of groups are negative.
 */
export const TELEGRAM_CHAT = text(
  /^(?:-?[1-9]\d{0,18}|@[A-Za-z][A-Za-z0-9_]{3,31})(?:\/[1-9]\d{0,9})?$/,
  'the number of a chat, or @ and its public name, with / and the number of a topic behind it or none',
);

/** The settings of a webhook: its kinds of events, and the language and facts of a chat. */
export const PROVIDER_KINDS = list(PROVIDER_EVENTS, 'all');
export const OPERATOR_KINDS = list(OPERATOR_EVENTS, 'all');
export const WEBHOOK_LOCALE = choice(WEBHOOK_LOCALES);
export const SHOWN_FACTS = list(CHAT_FACTS, 'none');

/** Hours for which the old secret of a webhook signs too. */
export const KEEP_OLD_HOURS = whole(0, 168);

/** Most bytes of an encoded push payload: specification, "Limits". */
export const PUSH_ENCODED_MAX = 4096;

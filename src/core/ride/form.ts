/** The forms in which apps take the values of settings from headers. */

import { hostName } from '../host-name.ts';
import { isUrlToOpen, isWebUrl } from '../message/url.ts';

/** A form of a header's value. */
export interface Form {
  /** The form in words, for documents. */
  readonly takes: string;
  /** Returns the value for the header; null: the value does not fit, and the header is omitted. */
  write(value: unknown): string | null;
}

/** Characters that pass through every proxy and HTTP version unchanged. */
const PRINTABLE = /^[!-~](?:[ -~]*[!-~])?$/;
const PRINTABLE_WORD = /^[!-~]+$/;
/** The most characters of one value, so that several fit into the headers of one answer. */
const VALUE_LENGTH_MAX = 1000;
/**
 * The most characters of an address: browsers and apps accept 2,000, but headers are limited to 2
 * KB.
 */
const LINK_LENGTH_MAX = 512;

const nonEmptyText = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : null;

const fitting = (takes: string, fits: (text: string) => boolean): Form => ({
  takes,
  write: (value) => {
    const text = nonEmptyText(value);
    return text !== null && text.length <= VALUE_LENGTH_MAX && fits(text) ? text : null;
  },
});

/** Makes the form of the contract's values with a header value for each. */
export function mapped(values: Readonly<Record<string, string>>): Form {
  const byValue = new Map(Object.entries(values));
  return {
    takes: [...new Set(byValue.values())].map((value) => `\`${value}\``).join(', '),
    write: (value) => byValue.get(nonEmptyText(value)?.toLowerCase() ?? '') ?? null,
  };
}

/** True or false; both makers write `1` and `0`. */
export const SWITCH: Form = mapped({
  true: '1',
  '1': '1',
  on: '1',
  yes: '1',
  false: '0',
  '0': '0',
  off: '0',
  no: '0',
});

/** Only `1`: by its document the app ignores every other value. */
export const ON_ALONE: Form = mapped({ true: '1', '1': '1', on: '1', yes: '1' });

/** One of these values. */
export const choice = (...values: string[]): Form =>
  mapped(Object.fromEntries(values.map((value) => [value, value])));

const RANGE = /^([0-9]{1,9})(?: *- *([0-9]{1,9}))?$/;

/** Returns both ends of a range, the first at most the second; null: it is no range. */
function readRange(value: unknown): [string, string] | null {
  const [, from, to = from] = RANGE.exec(nonEmptyText(value) ?? '') ?? [];
  return from === undefined || to === undefined || Number(from) > Number(to) ? null : [from, to];
}

/** A whole number, or two as `a-b`. */
export const RANGE_OR_NUMBER: Form = {
  takes: '`a` or `a-b`',
  write: (value) => {
    const range = readRange(value);
    if (range === null) return null;
    return range[0] === range[1] ? range[0] : range.join('-');
  },
};

/** Two whole numbers; a single one is written twice. */
export const RANGE_ALONE: Form = {
  takes: '`min-max`',
  write: (value) => readRange(value)?.join('-') ?? null,
};

/** A whole number within bounds. */
export const whole = (min: number, max: number): Form =>
  fitting(
    `${min} to ${max}`,
    (text) => /^-?[0-9]{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max,
  );

/** Printable ASCII up to a length. */
export const printable = (lengthMax: number): Form =>
  fitting(
    `ASCII, ${lengthMax} characters at most`,
    (text) => text.length <= lengthMax && PRINTABLE.test(text),
  );

/** An absolute `http` or `https` URL. */
export const WEB_URL: Form = {
  takes: 'a URL',
  write: (value) => (typeof value === 'string' && isWebUrl(value) ? asciiLink(value) : null),
};

/** An IPv4 or IPv6 address. */
export const IP: Form = fitting('an IP address', isAddress);

function isAddress(text: string): boolean {
  if (/^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/.test(text)) return hostName(text) === text;
  return /^[0-9a-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`);
}

/** Names of Android apps; blanks and line breaks around commas are dropped. */
export const APP_LIST: Form = {
  takes: `names of apps with commas, ${VALUE_LENGTH_MAX} characters at most`,
  write: (value) => {
    if (typeof value !== 'string' || value.length > 2 * VALUE_LENGTH_MAX) return null;
    const names = value.split(/[\s,]+/).filter((name) => name !== '');
    const list = names.join(',');
    const fits = names.length > 0 && names.every((name) => /^[\w.]+$/.test(name));
    return fits && list.length <= VALUE_LENGTH_MAX ? list : null;
  },
};

/** Networks and addresses, separated by commas. */
export const NETWORKS: Form = fitting('networks and addresses with commas', (text) =>
  text.split(/[\s,]+/).every((network) => {
    const [address = '', bits = '0', ...more] = network.split('/');
    return (
      more.length === 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= 128 && isAddress(address)
    );
  }),
);

/**
 * Returns a link in ASCII for a header; null: a message may not have it, or it is longer than
 * {@link LINK_LENGTH_MAX}. A link in ASCII stays unchanged.
 */
export function asciiLink(link: string): string | null {
  if (link.length > LINK_LENGTH_MAX || !isUrlToOpen(link)) return null;
  const ascii = PRINTABLE_WORD.test(link) ? link : new URL(link).href;
  return ascii.length <= LINK_LENGTH_MAX && PRINTABLE_WORD.test(ascii) ? ascii : null;
}

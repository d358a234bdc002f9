/** Readers of settings, from text to value. Each throws RangeError with the expected form. */

import { CronPattern } from 'croner';
import { readOneLine, readProviderCode } from '../core/formats.ts';
import { hostName } from '../core/host-name.ts';
import { type KeyPath, type PassPath, readKeyPath, readPassPath } from '../core/key-path.ts';
import { readNetwork, readOperatorUrl } from '../core/outbox/address.ts';
import { isRefused, type Misfit } from '../core/outcome.ts';
import type { Network } from '../core/port/reach.ts';
import {
  parseSharedAddresses,
  parseTrustedProxies,
  type SharedAddresses,
  type TrustedProxies,
} from '../http/request/address.ts';
import { type ProxyAddress, readProxyPlace } from '../outgoing/proxy.ts';
import { certificateName } from '../tls/name.ts';

export function text(given: string): string {
  return given;
}

/**
 * An address or a path. An empty address would mean all addresses, an empty path the current
 * folder.
 */
export function notEmpty(given: string): string {
  if (given !== '' && given === given.trim()) return given;
  throw new RangeError(`'${given}' is empty or has blanks around it`);
}

function wholeNumber(minimum: number, maximum: number): (given: string) => number {
  return (given) => {
    const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new RangeError(`'${given}' is not a whole number from ${minimum} to ${maximum}`);
  };
}

/** The reader of a number. */
export function integer(minimum: number, maximum: number) {
  return { types: ['integer'], read: wholeNumber(minimum, maximum) } as const;
}

/** The reader of an array of strings. */
export function array<T>(read: (given: string) => T) {
  return { types: ['array'], read } as const;
}

const ARGUMENTS_MAX = 64;

/** The reader of a command line: the program and its first arguments; empty: none. */
export const command = {
  types: ['command'],
  read: (given: string): readonly string[] => {
    const words = JSON.parse(given) as string[];
    if (words.length > 0 && words[0] === '') throw new RangeError('the program has no name');
    if (words.length > ARGUMENTS_MAX) throw new RangeError(`more than ${ARGUMENTS_MAX} arguments`);
    if (words.some((word) => word.includes('\0'))) throw new RangeError('an argument has a NUL');
    return words;
  },
} as const;

/** Port, or null for the word `off`. */
export function portOrOff(given: string): number | null {
  if (given === 'off') return null;
  try {
    return wholeNumber(0, 65_535)(given);
  } catch {
    throw new RangeError(`'${given}' is not a port from 0 to 65535 or off`);
  }
}

export function oneOf<const T extends string>(...values: T[]): (given: string) => T {
  return (given) => {
    const value = values.find((candidate) => candidate === given);
    if (value !== undefined) return value;
    throw new RangeError(`'${given}' is not ${values.join(' or ')}`);
  };
}

/** The reader of true and false. */
export const boolean = {
  types: ['boolean'],
  read: (given: string) => oneOf('true', 'false')(given) === 'true',
} as const;

/** Minutes east of UTC. */
export function utcOffset(given: string): number {
  const parts = /^([+-])(\d{2}):([0-5]\d)$/.exec(given);
  const minutes = parts ? Number(parts[2]) * 60 + Number(parts[3]) : Number.NaN;
  if (minutes <= 14 * 60) return parts?.[1] === '-' ? -minutes : minutes;
  throw new RangeError(`'${given}' is not an offset from UTC such as +03:00`);
}

function list(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function networks(given: string): TrustedProxies {
  return parseTrustedProxies(list(given));
}

/** Networks whose addresses many customers share. */
export function sharedAddresses(given: string): SharedAddresses {
  return parseSharedAddresses(list(given));
}

/** Networks of proxies that send headers of the PROXY protocol. */
interface ProxyNetworks extends TrustedProxies {
  texts: readonly string[];
}

export function proxyNetworks(given: string): ProxyNetworks {
  const texts = list(given);
  const whole = texts.find((text) => text.endsWith('/0'));
  if (whole !== undefined) {
    throw new RangeError(`'${whole}' names every address: name those of the proxies alone`);
  }
  return { texts, includes: parseTrustedProxies(texts).includes };
}

/** The longest path of a Unix socket that the kernel takes, bytes. */
const SOCKET_PATH_BYTES_MAX = 107;

/** The path of a Unix socket; empty for none. */
export function socketPath(given: string): string {
  if (given === '') return given;
  const fits = given.startsWith('/') && Buffer.byteLength(given) <= SOCKET_PATH_BYTES_MAX;
  if (fits && !/\0|\/$/.test(given)) return notEmpty(given);
  throw new RangeError(
    `'${given}' is not an absolute path of up to ${SOCKET_PATH_BYTES_MAX} bytes`,
  );
}

/** The word for the networks of `server.trusted_proxies`. */
export const TRUSTED_PROXIES = 'server.trusted_proxies';

/** Networks, or null for those of `server.trusted_proxies`. */
export function networksOrTrusted(given: string): TrustedProxies | null {
  return given === TRUSTED_PROXIES ? null : networks(given);
}

/** Networks that may be called. */
export function outgoingNetworks(given: string): Network[] {
  return list(given).map((text) => {
    const network = readNetwork(text);
    if (network === null) throw new RangeError(`'${text}' is not a network such as 10.0.0.0/8`);
    return network;
  });
}

/** A proxy of outgoing calls; null: none. Its login stands in a file, as settings are shown. */
export function proxyAddress(given: string): ProxyAddress | null {
  if (given === '') return null;
  const [, scheme, place = ''] = /^(socks5|http):\/\/([^\s/?#]+)$/.exec(given) ?? [];
  if (place.includes('@')) {
    throw new RangeError(
      'it has a login, which belongs into the file of outgoing.proxy.login_file',
    );
  }
  const at = readProxyPlace(place);
  // The message does not repeat the text, which may hold a password.
  if (at === null) throw new RangeError('it is not socks5://HOST:PORT or http://HOST:PORT');
  return { kind: scheme === 'http' ? 'http' : 'socks5', ...at };
}

/** Ports, at most 16. */
export function ports(given: string): number[] {
  const named = list(given);
  if (named.length > PORTS_MAX) throw new RangeError(`more than ${PORTS_MAX} ports`);
  return named.map(wholeNumber(1, 65_535));
}

const PORTS_MAX = 16;

/** The most paths of a setting: each request is compared with all of them. */
const TEMPLATES_MAX = 16;

/** Templates of paths with a subscription key. */
export function keyPaths(given: string): KeyPath[] {
  return pathsBy(readKeyPath, given);
}

/** Paths that belong to no subscription. */
export function passPaths(given: string): PassPath[] {
  return pathsBy(readPassPath, given);
}

function pathsBy<T extends object>(readOne: (text: string) => T | Misfit, given: string): T[] {
  const texts = list(given);
  if (texts.length > TEMPLATES_MAX) {
    throw new RangeError(`there are more than ${TEMPLATES_MAX} paths`);
  }
  return texts.map((text) => {
    const read = readOne(text);
    if (isRefused(read)) throw new RangeError(`'${text}' ${read.detail}`);
    return read;
  });
}

/** The host of a URL, in the form of a binding. */
export function hostOfUrl(given: string): string {
  const host = hostName(given);
  if (host !== null) return host;
  throw new RangeError(`'${given}' is not a host name`);
}

/** The most hosts of a setting. */
const HOSTS_MAX = 64;

/** Host names, in the form of bindings. */
export function hostList(given: string): string[] {
  const hosts = [...new Set(list(given).map(hostOfUrl))];
  if (hosts.length <= HOSTS_MAX) return hosts;
  throw new RangeError(`there are more than ${HOSTS_MAX} hosts`);
}

/** A URL to which paths are added: without a slash at its end. */
export function baseUrl(given: string): string {
  const url = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(given) ? URL.parse(given) : null;
  // The message does not repeat the URL, which may hold a password.
  if (url === null) {
    throw new RangeError('it is not an http or https URL without user, query and fragment');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** A page: the path of a file, or an http or https address; empty for none. */
export function pageSource(given: string): string {
  if (given === '' || !/^https?:/i.test(given)) return given === '' ? given : notEmpty(given);
  const url = readOperatorUrl(given);
  if (url instanceof URL) return url.href;
  throw new RangeError(`it ${url.detail}`);
}

export const optionalBaseUrl = (given: string): string => (given === '' ? '' : baseUrl(given));

export function providerCode(given: string): string {
  const code = readProviderCode(given);
  if (isRefused(code)) throw new RangeError(`'${given}' ${code.detail}`);
  return code;
}

/** A language tag (RFC 5646) in lower case. */
export function languageTag(given: string): string {
  if (/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/.test(given)) return given.toLowerCase();
  throw new RangeError(`'${given}' is not a language such as en or pt-BR`);
}

/** The name of a node; empty: the name of its machine. */
export function nodeName(given: string): string {
  if (/^[\w.:-]{0,63}$/.test(given)) return given;
  throw new RangeError(`'${given}' is not up to 63 letters, digits, dots, colons, - and _`);
}

const SHORT_TEXT_LENGTH_MAX = 200;

/** One line of text; undefined for none. */
export function shortText(given: string): string | undefined {
  if (given === '') return undefined;
  const line = readOneLine(given);
  if (!isRefused(line) && [...line].length <= SHORT_TEXT_LENGTH_MAX) return line;
  throw new RangeError(`it is not one line of up to ${SHORT_TEXT_LENGTH_MAX} characters`);
}

/** One line of text that may be empty. */
export const optionalLine = (given: string): string => shortText(given) ?? '';

/** Names of certificates, between commas. */
export const certificateNames = (given: string): string[] => list(given).map(certificateName);

export function httpUrl(given: string): string {
  if (/^https?:\/\/[^\s/]+\S*$/.test(given) && URL.canParse(given)) return given;
  throw new RangeError(`'${given}' is not an http or https address`);
}

/** Time of day in UTC, cron pattern or nothing; returned as a pattern or empty. */
export function schedule(given: string): string {
  if (given === '') return '';
  const time = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(given);
  if (time) return `${Number(time[2])} ${Number(time[1])} * * *`;
  try {
    new CronPattern(given);
    return given;
  } catch {
    throw new RangeError(`'${given}' is neither a time such as 03:30 nor a cron pattern`);
  }
}

/** The public key of a publisher, as ssh-keygen writes it, without its comment; empty for none. */
export function publisherKey(given: string): string {
  // Ed25519: the name of the scheme and 32 bytes, each after its length.
  const key = /^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}(?= |$)/.exec(given)?.[0];
  if (given === '' || key !== undefined) return key ?? '';
  throw new RangeError(`'${given}' is not a key such as ssh-ed25519 AAAA...`);
}

const MAIL_ADDRESS = /^mailto:[^\s@:/?#]+@([a-z0-9-]+\.)+[a-z0-9-]{2,63}$/i;

/** The contact for push services (RFC 8292 section 2.1); empty for none. */
export function contactUrl(given: string): string {
  // Apple refuses messages with any other contact, also of a host without a dot.
  const isPage = /^https:\/\/([a-z0-9-]+\.)+[a-z0-9-]{2,63}(:\d+)?(\/\S*)?$/i.test(given);
  if (given === '' || isPage || MAIL_ADDRESS.test(given)) return given;
  throw new RangeError(`'${given}' is neither mailto: with an address nor an https URL`);
}

const INTERVAL_UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The interval of `follow`, ms; 0 for none. */
export function followInterval(given: string): number {
  if (given === '') return 0;
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(given) ?? [];
  const ms = Number(count) * INTERVAL_UNITS_MS[(unit ?? 'm') as keyof typeof INTERVAL_UNITS_MS];
  if (ms <= INTERVAL_UNITS_MS.d) return ms;
  throw new RangeError(`'${given}' is not a time from 1m to 1d, such as 5m`);
}

/** The path of a file; empty for none. */
export function absolutePath(given: string): string {
  if (given === '' || /^\/[^\0]*[^\0/]$/.test(given)) return given;
  throw new RangeError(`'${given}' is not an absolute path of a file`);
}

/** The most days of a list: the clock checks each. */
const DAYS_COUNT_MAX = 10;

/** Numbers of days, without repetition, in descending order. */
export function wholeDays(given: string): number[] {
  const days = [...new Set(list(given).map(wholeNumber(1, 365)))].sort((one, two) => two - one);
  if (days.length <= DAYS_COUNT_MAX) return days;
  throw new RangeError(`there are more than ${DAYS_COUNT_MAX} days`);
}

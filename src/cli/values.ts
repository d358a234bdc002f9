/** Reads and prints values of the command line. */

import { InvalidArgumentError } from 'commander';
import { ACTIONS, type Action } from '../core/audit/entry.ts';
import { dateEndingAt, endOfDateMs } from '../core/calendar.ts';
import {
  AUTH_KEY,
  DOMAIN_HASH,
  EXPIRE_DAYS,
  type Format,
  HWID,
  INSTALL_CODE,
  INSTALL_LIMIT,
  LINK_SEARCH,
  NEW_INSTALL_CODE,
  NOTE,
  ONE_LINE_LENGTH_MAX,
  PLAN,
  PROVIDER_CODE,
  RECORD_ID,
  readDomainHash,
  readHwid,
  readOneLine,
  STATS_DAYS,
  TELEGRAM_CHAT,
} from '../core/formats.ts';
import { hostHash, hostName } from '../core/host-name.ts';
import { addressOf, readOperatorUrl } from '../core/outbox/address.ts';
import { isRefused } from '../core/outcome.ts';
import { SUBSCRIPTION_KEY } from '../core/subscription-key.ts';

const mistake = (text: string) => new InvalidArgumentError(text);

/** The help of `--since`. */
export const SINCE_HELP = 'from this time: a date or time in UTC, or 24h for the last day';

/** Makes the reader of an argument by a format of core. */
function argument<T>(name: string, { read, rule }: Format<T>): (text: string) => T {
  return (text) => {
    const value = read(text);
    if (isRefused(value)) throw mistake(`${name} is ${rule}`);
    return value as T;
  };
}

/**
 * Reads the end of a subscription, ms: the first instant after its last day (UTC+3). Returns
 * `never` unchanged, because commander turns null into an empty text.
 */
export function expiresValue(text: string): number | 'never' {
  if (text === 'never') return text;
  const endMs = endOfDateMs(text);
  if (endMs === null) throw mistake(`'${text}' is not a date: YYYY-MM-DD, or never`);
  return endMs;
}

export function maxLinksValue(text: string): number | 'default' {
  return text === 'default' ? text : linksValue(text);
}

/** Makes the reader of a number that matches `pattern`; `meaning` ends the error message. */
function numberValue(pattern: RegExp, meaning: string): (text: string) => number {
  return (text) => {
    if (!pattern.test(text)) throw mistake(`'${text}' is not a number ${meaning}`);
    return Number(text);
  };
}

export const countValue = numberValue(/^[1-9]\d{0,6}$/, 'from 1 to 9999999');
export const callsValue = numberValue(/^[1-9]\d{0,4}$/, 'from 1 to 99999');
export const memoryValue = numberValue(/^[1-9]\d{2,5}$/, 'of MiB from 100 to 999999');
export const secondsValue = numberValue(/^[1-9]\d{0,5}$/, 'of seconds');
export const portValue = numberValue(/^(?:0|[1-9]\d{0,4})$/, 'from 0 to 65535');
/** A factor of 0.01 to 10. */
export const paceValue = numberValue(
  /^(?:10|[1-9](?:\.\d{1,2})?|0?\.(?:0[1-9]|[1-9]\d?))$/,
  'from 0.01 to 10',
);
export const togetherValue = numberValue(/^(?:[1-9]\d{0,3}|10000)$/, 'from 1 to 10000');
const linksValue = numberValue(/^\d{1,9}$/, 'of links, or default');

/** Makes the reader of a line of text that is not blank. */
export function lineValue(name: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== '' && !isRefused(readOneLine(text))) return text;
    throw mistake(`${name} is one line of 1 to ${ONE_LINE_LENGTH_MAX} characters`);
  };
}

export const providerCodeValue = argument('a provider code', PROVIDER_CODE);
export const planValue = argument('a plan', PLAN);
export const authKeyValue = argument('a key', AUTH_KEY);
export const installCodeValue = argument('the code of a link', INSTALL_CODE);
export const newInstallCodeValue = argument('the code of a new link', NEW_INSTALL_CODE);
export const installLimitValue = argument('the limit of a link', INSTALL_LIMIT);
export const linkSearchValue = argument('the text to search for', LINK_SEARCH);
export const noteValue = argument('a note', NOTE);
export const subscriptionKeyValue = argument('a subscription key', SUBSCRIPTION_KEY);
export const hwidValue = argument('a HWID', HWID);
export const expireDaysValue = argument('a number of days', EXPIRE_DAYS);
export const daysValue = argument('a number of days', STATS_DAYS);
export const domainHashValue = argument('a domain hash', DOMAIN_HASH);
export const telegramChatValue = argument('a Telegram chat', TELEGRAM_CHAT);
export const distributionIdValue = argument('the id of a distribution', RECORD_ID);
export const webhookIdValue = argument('the id of a webhook', RECORD_ID);
export const botIdValue = argument('the id of a bot', RECORD_ID);
export const reminderIdValue = argument('the id of a reminder', RECORD_ID);
export const eventIdValue = argument('the number of an event', RECORD_ID);

/** Reads a prefix of HWIDs; its length leaves room for a hyphen and a number. */
export function hwidPrefixValue(text: string): string {
  if (text.length > 100 || isRefused(readHwid(text))) {
    throw mistake('a prefix of HWIDs has 1 to 100 visible ASCII characters and no comma');
  }
  return text;
}

/** A host name in the form of bindings, or its hash. */
export interface DomainName {
  /** The name; null: only the hash is known. */
  host: string | null;
  hash: string;
}

export function domainValue(text: string): DomainName {
  if (!isRefused(readDomainHash(text))) return { host: null, hash: text };
  const host = hostName(text);
  if (host === null) throw mistake('a domain is a host name without scheme and path, or its hash');
  return { host, hash: hostHash(host) };
}

export function calledUrlValue(text: string): string {
  const url = readOperatorUrl(text);
  if (isRefused(url)) throw mistake(`the URL ${url.detail}`);
  return text;
}

export function actionValue(text: string): Action {
  const actions = Object.keys(ACTIONS) as Action[];
  const action = actions.find((candidate) => candidate === text);
  if (action === undefined) throw mistake(`unknown action '${text}': ${actions.join(', ')}`);
  return action;
}

/** Reads a head of the audit log, as `audit verify` prints it. */
export function auditHeadValue(text: string): string {
  if (!/^[1-9]\d{0,14}:[0-9a-f]{64}$/.test(text)) {
    throw mistake(`'${text}' is not a head of the audit log: NUMBER:HASH`);
  }
  return text;
}

/** Reads the base URL of an API, without a trailing slash. */
export function baseUrlValue(text: string): string {
  const url = URL.parse(text);
  if (!/^https?:\/\//i.test(text) || url === null) throw mistake(`'${text}' is not an http URL`);
  if (url.username || url.password || url.search || url.hash) {
    throw mistake('a base URL has no user, query or fragment; a key belongs in --key-file');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Reads an offset from UTC such as `+03:00`, in minutes. */
export function zoneValue(text: string): number {
  const parts = /^([+-])(0\d|1[0-4]):([0-5]\d)$/.exec(text);
  if (!parts) throw mistake(`'${text}' is not an offset from UTC such as +03:00`);
  const minutes = Number(parts[2]) * 60 + Number(parts[3]);
  return parts[1] === '-' ? -minutes : minutes;
}

/** Reads a range of ids such as `1-5000`. */
export function idRangeValue(text: string): { from: number; to: number } {
  const parts = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  const from = Number(parts?.[1]);
  const to = Number(parts?.[2]);
  if (!parts || from < 1 || from > to) throw mistake(`'${text}' is not a range such as 1-5000`);
  return { from, to };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a duration such as `24h`, in ms. */
export function durationValue(text: string): number {
  const parts = /^(\d{1,6})([smhd])$/.exec(text);
  const unitMs = UNIT_MS[parts?.[2] ?? ''];
  if (!parts || unitMs === undefined) {
    throw mistake(`'${text}' is not a duration: a number with s, m, h or d, such as 24h`);
  }
  return Number(parts[1]) * unitMs;
}

/** Returns true if a day exists: JavaScript reads 30 February as 2 March. */
function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/**
 * Reads an instant: a duration before now such as `24h`, a date (its start in UTC), or a time, in
 * UTC if it names no zone. Returns the function from now to the instant, ms.
 */
export function instantValue(text: string): (nowMs: number) => number {
  if (/^\d+[smhd]$/.test(text)) {
    const agoMs = durationValue(text);
    return (nowMs) => nowMs - agoMs;
  }
  const parts =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  const [, date, time = '00:00', zone = 'Z'] = parts ?? [];
  const epochMs = Date.parse(`${date}T${time}${zone}`);
  const isReal = date !== undefined && isDate(date);
  if (Number.isNaN(epochMs) || !isReal) {
    throw mistake(
      `'${text}' is not a time such as 2026-11-20, 2026-11-20T12:00, or 24h for a day ago`,
    );
  }
  return () => epochMs;
}

/** Returns the last day of a subscription, or `never`. */
export function showExpires(activeUntilMs: number | null): string {
  return activeUntilMs === null ? 'never' : dateEndingAt(activeUntilMs);
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Returns a size as text: `0.9 MiB`, `312 bytes`. */
export function showBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** Returns an instant as ISO 8601 in UTC, to the second. */
export function showTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** Returns an instant as {@link showTime}, or null. */
export function showTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : showTime(epochMs);
}

/** Reads the name of a file. Rejects an empty one. */
export function fileValue(text: string): string {
  if (text === '') throw mistake('the name of a file must not be empty');
  return text;
}

/** Reads the name of a file to write. Returns undefined for `-`: standard output. */
export function outputFileValue(text: string): string | undefined {
  return text === '-' ? undefined : fileValue(text);
}

/** Reads the name of a panel among several of a kind. */
export function labelValue(text: string): string {
  if (!/^[A-Za-z0-9.-]{1,32}$/.test(text)) {
    throw mistake(`'${text}' is not a name of 1 to 32 letters, digits, . and -`);
  }
  return text;
}

/** Reads the limit for users without one in a panel; `skip` omits them. */
export function unlimitedValue(text: string): number | 'skip' {
  if (text === 'skip') return text;
  const limit = INSTALL_LIMIT.read(text);
  if (isRefused(limit)) throw mistake(`'${text}' is neither skip nor ${INSTALL_LIMIT.rule}`);
  return limit;
}

/** The most hosts of `--outside`, and the longest name of one. */
const OUTSIDE_MAX = 20;
const HOST_LENGTH_MAX = 253;

/**
 * Adds a server to ask: `HOST`, `HOST:PORT`, `http://HOST` or `https://HOST`, by https where there
 * is no scheme. Each counts once.
 */
export function outsideValue(text: string, previous: readonly URL[] = []): URL[] {
  const isV6 = text.includes(':') && addressOf(text) !== null;
  const full = text.includes('://') ? text : `https://${isV6 ? `[${text}]` : text}`;
  const url = readOperatorUrl(full);
  const isHost = url instanceof URL && url.href === `${url.origin}/`;
  if (!isHost || url.hostname.length > HOST_LENGTH_MAX) {
    throw mistake(`'${text}' is no HOST, HOST:PORT or http://HOST`);
  }
  if (previous.some(({ origin }) => origin === url.origin)) return [...previous];
  if (previous.length >= OUTSIDE_MAX) throw mistake(`at most ${OUTSIDE_MAX} hosts are asked`);
  return [...previous, url];
}

/**
 * Stable words in place of what must not leave the machine: hosts, addresses, e-mails, names,
 * paths, chats and secrets. A censor reads reports of faults too.
 */

import { isIP } from 'node:net';
import { isRecord } from '../core/json-input.ts';
import { bareHost } from '../core/outbox/address.ts';
import { DEFAULT, type LoadedConfig } from './load.ts';
import { SETTINGS, type SettingName, settingRows } from './settings/index.ts';
import type { TableKeys } from './tables.ts';

type HiddenKind =
  | 'address'
  | 'chat'
  | 'device'
  | 'email'
  | 'host'
  | 'node'
  | 'path'
  | 'person'
  | 'provider'
  | 'secret'
  | 'text';

/** A shorter value is a part of too many words. */
const LENGTH_MIN = 3;
/** Addresses of every machine. */
const HERE = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost)$/;
const WORD = /^[a-z]+-\d+$/;

/** Paths that every installation has. */
const PUBLIC_PATHS = new Set([
  ...[
    'data',
    './data',
    '/etc/gatepost/gatepost.toml',
    '/var/lib/gatepost',
    '/var/lib/gatepost/gatepost.db',
  ],
  ...['/var/lib/gatepost/backups', '/etc/resolv.conf', '/usr/bin/gatepost'],
  ...['/usr/share/doc/gatepost/port-80.conf', '/usr/lib/systemd/system/gatepost.service'],
  ...['/etc/systemd/system/gatepost.service', '/gate', '/docs', '/my', '/api', '/readyz'],
  ...['/etc/systemd/system/gatepost.service.d/port-80.conf', '/api/add-domain', '/assets/*'],
  ...['/.well-known/acme-challenge/', '/.well-known/acme-challenge'],
]);
/** Names with a dot that are no hosts: files of Gatepost, and settings. */
const PUBLIC_NAMES = new Set([
  ...['gatepost.toml', 'gatepost.db', 'gatepost.service', 'port-80.conf', 'vapid.key'],
  ...['docs/gate.md', 'docs/operating.md', 'tune.bufsize', 'gatepost.settings'],
  ...settingRows.flatMap(([, { key, default: standard }]) => [
    ...[key, ...key.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'))],
    ...(URL.canParse(standard) ? [new URL(standard).hostname] : []),
  ]),
]);

const URLS = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s'"<>,;()]+)/gi;
const EMAILS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const ADDRESSES =
  /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w.]*\w)/gi;
const PATHS = /(?<![\w.</]|:(?=\/\/))(?:~|\.{1,2})?\/[^\s'",;:()]+/g;
const LABEL = '[\\p{L}\\d_](?:[\\p{L}\\d_-]*[\\p{L}\\d_])?';
const TOP = '(?:xn--[a-z\\d-]+|\\p{L}[\\p{L}-]*\\p{L})';
const HOSTS = new RegExp(`(?<![\\w./-])(?:${LABEL}\\.)+${TOP}(?![\\p{L}\\d_])`, 'giu');
/** Ids of chats, tokens of bots, and keys. */
const CHATS = /(?<![\w.])(?:-?\d{9,}|@\w{4,})(?![\w.]*\w)/g;
const SECRETS =
  /\b(?:\d{6,}:[\w-]{20,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[\w+/-]{40,})\b/gi;

export class HiddenNames {
  readonly #words = new Map<string, string>();
  readonly #counts = new Map<HiddenKind, number>();
  #known: RegExp | null = null;

  /** Knows the values of the settings, in their order; null: the configuration is invalid. */
  constructor(loaded: LoadedConfig | null) {
    if (loaded === null) return;
    for (const { host, url } of loaded.config.gateUpstreams) {
      this.add('host', host);
      this.add('host', new URL(url).hostname);
    }
    for (const [name, { text, origin }] of Object.entries(loaded.sources)) {
      if (origin !== DEFAULT && text !== '') this.#addSetting(name as SettingName, text);
    }
    if (loaded.file !== null) this.add('path', loaded.file);
  }

  /** Takes a value, which gets the next word of its kind. */
  add(kind: HiddenKind, value: string): void {
    const key = value.toLowerCase();
    if (value.length < LENGTH_MIN || HERE.test(key) || PUBLIC_PATHS.has(value)) return;
    if (this.#words.has(key)) return;
    this.#words.set(key, this.#next(kind));
    this.#known = null;
  }

  /** Returns the text with words in place of known values, and of all that looks like one. */
  hide(text: string): string {
    return this.#hideKnown(text)
      .replace(URLS, (_, scheme: string, rest: string) => scheme + this.#inUrl(rest))
      .replace(EMAILS, (found) => this.#wordOf('email', found))
      .replace(SECRETS, (found) => this.#wordOf('secret', found))
      .replace(PATHS, (found) => (isPublic(found) ? found : this.#wordOf('path', found)))
      .replace(ADDRESSES, (found) => this.#address(found))
      .replace(HOSTS, (found) =>
        PUBLIC_NAMES.has(found) || HERE.test(found) ? found : this.#wordOf('host', found),
      )
      .replace(CHATS, (found) => this.#wordOf('chat', found));
  }

  /** Returns the text with words in place of all that stands in quotes. */
  hideQuoted(text: string): string {
    return text.replace(/(["'`])((?:(?!\1).)+)\1/g, (_, quote: string, value: string) => {
      return `${quote}${this.#wordOf('text', value)}${quote}`;
    });
  }

  #hideKnown(text: string): string {
    if (this.#words.size === 0) return text;
    this.#known ??= new RegExp(
      `(?<![\\p{L}\\d])(?:${[...this.#words.keys()]
        .sort((one, other) => other.length - one.length)
        .map((value) => RegExp.escape(value))
        .join('|')})(?![\\p{L}\\d])`,
      'giu',
    );
    return text.replace(this.#known, (found) => this.#words.get(found.toLowerCase()) ?? found);
  }

  /** Hides an address; the colon of a sentence may follow one of IPv6. */
  #address(found: string): string {
    const end = isIP(found) === 0 && found.endsWith(':') ? ':' : '';
    const address = found.slice(0, found.length - end.length);
    if (isIP(address) === 0 || HERE.test(address)) return found;
    return this.#wordOf('address', address) + end;
  }

  /** Hides user, host and path of the rest of a URL; the port stays. */
  #inUrl(rest: string): string {
    const [, user, host = '', port = '', path = ''] =
      /^(?:(.*)@)?(\[[^\]]*\]|[^:/?#]*)(:\d+)?(.*)$/.exec(rest) ?? [];
    const isOpen = WORD.test(host) || HERE.test(bareHost(host));
    const isPlain = path === '' || path === '/' || PUBLIC_PATHS.has(path);
    return [
      user === undefined ? '' : `${this.#wordOf('secret', user)}@`,
      isOpen || PUBLIC_NAMES.has(host) ? host : this.#wordOf('host', host),
      port,
      isPlain ? path : `/${this.#wordOf('path', path)}`,
    ].join('');
  }

  #wordOf(kind: HiddenKind, value: string): string {
    this.add(kind, value);
    return this.#words.get(value.toLowerCase()) ?? this.#next(kind);
  }

  #next(kind: HiddenKind): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return `${kind}-${count}`;
  }

  #addSetting(name: SettingName, text: string): void {
    const { key, read, tables, isSecret } = SETTINGS[name];
    if (isSecret) this.add('secret', text);
    else if (tables) this.#addTable(key, JSON.parse(text), tables.keys);
    else for (const value of text.split(',')) this.#addValue(key, value.trim(), read);
  }

  /** Takes the texts in the tables of a setting; `keys` have their forms. */
  #addTable(key: string, value: unknown, keys: TableKeys): void {
    if (Array.isArray(value)) for (const one of value) this.#addTable(key, one, keys);
    else if (isRecord(value)) {
      for (const [name, one] of Object.entries(value)) this.#addTable(name, one, keys);
    } else if (typeof value === 'string') {
      const form = Object.values(keys).find((one) => one.key === key);
      this.#addValue(key, value, form?.read ?? null);
    }
  }

  /** Takes a path, and the name in one of a single part. */
  #addPath(path: string): void {
    this.add('path', path);
    const [, name = ''] = /^\/([^/{}*]{5,})$/.exec(path) ?? [];
    this.add('path', name);
  }

  #addValue(key: string, value: string, read: ((text: string) => unknown) | null): void {
    const url = URL.canParse(value) && value.includes('://') ? new URL(value) : null;
    if (url !== null) {
      this.add('host', url.hostname);
      this.#addPath(url.pathname.replace(/\/$/, ''));
      this.add('person', decodeURIComponent(url.username));
      this.add('secret', decodeURIComponent(url.password));
    } else if (/(?:host|hosts|domains)$/.test(key) && isIP(value) === 0) {
      this.add('host', value.replace(/^\*\./, ''));
    } else if (/provider$/.test(key)) this.add('provider', value);
    else if (/node$/.test(key)) this.add('node', value);
    else if (/^[^/]+@[^/]+$/.test(value)) this.add('email', value.replace(/^mailto:/, ''));
    else if (isIP(value.split('/')[0] ?? '') !== 0) this.add('address', value.split('/')[0] ?? '');
    else if (value.includes('/')) this.#addPath(value);
    else if (value.includes('.') && !isNumber(value)) this.add('host', value.replace(/^\*\./, ''));
    else if (isFree(value, read)) this.add('text', value);
  }
}

const isNumber = (text: string) => /^[\d.]+$/.test(text);

const isPublic = (path: string) => PUBLIC_PATHS.has(path) || /^\/(?:proc|sys|dev)\//.test(path);

/** No setting with a few values accepts it. */
const ANY_TEXT = 'Qz7 any text';

/** Returns whether a setting accepts any text: then the value is the operator's own. */
function isFree(value: string, read: ((text: string) => unknown) | null): boolean {
  if (/^(?:true|false|[\d:+-]+)$/.test(value)) return false;
  if (read === null) return true;
  try {
    read(ANY_TEXT);
    return true;
  } catch {
    return false;
  }
}

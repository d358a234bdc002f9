/**
 * Proxies of outgoing calls: each destination that the settings give one is never called without
 * it, and its name is never looked up here.
 */

import { hostInUrl } from '../base/whereabouts.ts';
import { bareHost } from '../core/outbox/address.ts';

/** The purpose of a call. Its proxy follows from it. */
export type Destination = 'telegram' | 'fcm' | 'apns' | 'update' | 'webhook' | 'webpush' | 'page';

/** A proxy without its login. */
export interface ProxyAddress {
  kind: 'socks5' | 'http';
  /** A name, or an IP address without brackets. */
  host: string;
  port: number;
}

/** The name and password of a proxy. */
export interface ProxyLogin {
  name: string;
  password: string;
}

/** Settings; null: the destination is called directly. */
export interface ProxySettings {
  readonly outgoingProxyTelegram: ProxyAddress | null;
  readonly outgoingProxyFcm: ProxyAddress | null;
  readonly outgoingProxyApns: ProxyAddress | null;
  readonly outgoingProxyUpdate: ProxyAddress | null;
  /** That of addresses which a provider or a device gave. */
  readonly outgoingProxyWebhooks: ProxyAddress | null;
  /** Ports that a proxy may be asked for. */
  readonly outgoingProxyPorts: readonly number[];
}

const SETTING_OF = {
  telegram: 'outgoingProxyTelegram',
  fcm: 'outgoingProxyFcm',
  apns: 'outgoingProxyApns',
  update: 'outgoingProxyUpdate',
  webhook: 'outgoingProxyWebhooks',
  webpush: 'outgoingProxyWebhooks',
  page: null,
} as const satisfies Record<Destination, keyof ProxySettings | null>;

/** Returns the proxy of a destination; null: it has none. */
export function proxyOf(settings: ProxySettings, destination: Destination): ProxyAddress | null {
  const setting = SETTING_OF[destination];
  return setting === null ? null : settings[setting];
}

/** Returns a place as files and HTTP name it: `[::1]:1080`. */
export const placeOf = ({ host, port }: Omit<ProxyAddress, 'kind'>) => `${hostInUrl(host)}:${port}`;

/** Reads the place of a proxy; names in lower case, IPv6 in its shortest form. Null: malformed. */
export function readProxyPlace(text: string): Omit<ProxyAddress, 'kind'> | null {
  const [, name = '', digits] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  // A URL of http drops its usual port, and that of another scheme keeps capitals.
  const url = name === '' ? null : URL.parse(`http://${name}:1/`);
  if (url === null || port < 1 || port > 65_535) return null;
  return { host: bareHost(url.hostname), port };
}

const LOGIN = /^(\S+)[ \t]+(\S+)[ \t]+(\S+)$/;
/** Most bytes of a name and of a password: SOCKS5 has a byte for the length of each. */
const WORD_BYTES_MAX = 255;

/** Logins by the place of their proxy. */
export type ProxyLogins = ReadonlyMap<string, ProxyLogin>;

export const PROXY_LOGINS_RULE =
  'lines of HOST:PORT, a name without a colon, and a password, of 255 bytes at most, with blanks between them';

/** Reads the file of logins, one a line; returns null if a line is malformed. */
export function readProxyLogins(text: string): ProxyLogins | null {
  const lines = text.split('\n').map((line) => line.trim());
  const logins = new Map<string, ProxyLogin>();
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, place = '', name = '', password = ''] = LOGIN.exec(line) ?? [];
    const at = readProxyPlace(place);
    const isFit = [name, password].every((word) => Buffer.byteLength(word) <= WORD_BYTES_MAX);
    // HTTP ends the name at its first colon.
    if (at === null || !isFit || name.includes(':')) return null;
    logins.set(placeOf(at), { name, password });
  }
  return logins.size === 0 ? null : logins;
}

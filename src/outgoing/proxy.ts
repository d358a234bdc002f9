/**
 * Proxies of outgoing calls: each destination that the settings give one is never called without
 * it, and its name is never looked up here.
 */

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

/** Returns the place of a proxy, as the file of logins names it. */
export const placeOf = ({ host, port }: ProxyAddress) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

const LOGIN = /^(\S+:\d{1,5})[ \t]+(\S{1,255})[ \t]+(\S{1,255})$/;

/** Logins by the place of their proxy. */
export type ProxyLogins = ReadonlyMap<string, ProxyLogin>;

export const PROXY_LOGINS_RULE =
  'lines of HOST:PORT, a name and a password of 1 to 255 characters, with blanks between them';

/** Reads the file of logins, one a line; returns null if a line is malformed. */
export function readProxyLogins(text: string): ProxyLogins | null {
  const lines = text.split('\n').map((line) => line.trim());
  const logins = new Map<string, ProxyLogin>();
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, place, name, password] = LOGIN.exec(line) ?? [];
    if (place === undefined || name === undefined || password === undefined) return null;
    logins.set(place.toLowerCase(), { name, password });
  }
  return logins.size === 0 ? null : logins;
}

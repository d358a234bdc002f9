/** The settings of `set-settings` that apps read from headers, by the names of their makers. */

import {
  APP_LIST,
  choice,
  type Form,
  IP,
  mapped,
  NETWORKS,
  ON_ALONE,
  printable,
  RANGE_ALONE,
  RANGE_OR_NUMBER,
  SWITCH,
  WEB_URL,
  whole,
} from './form.ts';

/** A setting of an app: the key of the command and its headers, mostly one of the same name. */
export interface AppSetting {
  readonly key: string;
  readonly headers: readonly { readonly header: string; readonly form: Form }[];
}

const same = (key: string, form: Form): AppSetting => ({ key, headers: [{ header: key, form }] });
const switches = (...keys: string[]): AppSetting[] => keys.map((key) => same(key, SWITCH));

/**
 * The settings that Happ reads with a Provider ID (app-management.md, "Расширенные параметры" and
 * "Управление настройками приложения"). `local-dns-enable`, `fragmentation-type` and
 * `fragmentation-advanced-param` are commands of the contract that the document does not have as
 * headers. `color-profile` is longer than the headers of one answer may be.
 */
export const HAPP_SETTINGS: readonly AppSetting[] = [
  ...switches('fragmentation-enable'),
  same('fragmentation-packets', choice('tlshello', '1-2', '1-3', '1-5')),
  same('fragmentation-length', RANGE_OR_NUMBER),
  same('fragmentation-interval', RANGE_OR_NUMBER),
  same('fragmentation-maxsplit', RANGE_OR_NUMBER),
  ...switches(
    ...['subscription-auto-update-enable', 'subscription-auto-update-open-enable'],
    ...['subscription-always-hwid-enable', 'subscription-autoconnect'],
    'subscription-ping-onopen-enabled',
  ),
  same('subscription-autoconnect-type', choice('lastused', 'lowestdelay', 'random')),
  ...switches('notification-subs-expire', 'sub-expire'),
  same('sub-expire-button-link', WEB_URL),
  same('check-url-via-proxy', WEB_URL),
  same('ping-type', choice('proxy', 'proxy-head', 'tcp', 'icmp')),
  same('ping-result', choice('time', 'icon')),
  same('change-user-agent', printable(256)),
  ...switches('app-auto-start', 'hide-settings', 'sniffing-enable', 'subscriptions-collapse'),
  same('subscriptions-expand-now', ON_ALONE),
  ...switches('server-address-resolve-enable'),
  same('server-address-resolve-dns-ip', IP),
  same('server-address-resolve-dns-domain', WEB_URL),
  same('per-app-proxy-mode', choice('off', 'on', 'bypass')),
  same('per-app-proxy-list', APP_LIST),
  ...switches('mux-enable'),
  same('mux-tcp-connections', whole(-1, 1024)),
  same('mux-xudp-connections', whole(-1, 1024)),
  same('mux-quic', choice('reject', 'allow', 'skip')),
  ...switches('noises-enable'),
  same('noises-delay', RANGE_OR_NUMBER),
  ...switches('proxy-enable', 'tun-enable'),
  same('tun-mode', choice('system', 'gvisor')),
  same('tun-type', choice('singbox', 'tun2proxy', 'default')),
  same('exclude-routes', NETWORKS),
];

/**
 * The settings that INCY reads without anything else (app-management.en.md, "Parameter Summary
 * Table"). It splits the mode of apps into two headers and names it differently: `on` of the
 * contract, the listed apps alone, is `proxy`.
 */
export const INCY_SETTINGS: readonly AppSetting[] = [
  ...switches('fragmentation-enable'),
  same('fragmentation-packets', choice('tlshello', '1-3', '1', 'all')),
  same('fragmentation-length', RANGE_ALONE),
  same('fragmentation-interval', RANGE_ALONE),
  ...switches('noises-enable'),
  same('noises-type', choice('rand', 'str', 'hex')),
  same('noises-packet', printable(256)),
  same('noises-delay', RANGE_ALONE),
  ...switches('server-address-resolve-enable'),
  same('server-address-resolve-dns-ip', IP),
  same('server-address-resolve-dns-domain', WEB_URL),
  {
    key: 'per-app-proxy-mode',
    headers: [
      { header: 'per-app-proxy-enable', form: mapped({ on: '1', bypass: '1', off: '0' }) },
      { header: 'per-app-proxy-mode', form: mapped({ on: 'proxy', bypass: 'bypass' }) },
    ],
  },
  same('per-app-proxy-list', APP_LIST),
  same('no-limit-enabled', ON_ALONE),
];

const RIDDEN: ReadonlySet<string> = new Set(
  [...HAPP_SETTINGS, ...INCY_SETTINGS].map(({ key }) => key),
);

/** Returns true if any app reads the setting from a header. */
export const isSettingRidden = (key: string): boolean => RIDDEN.has(key);

/** The settings of `set-settings` that apps read from headers, by maker of the app. */

import type { App } from '../app/record.ts';
import { SETTINGS_BY_KEY } from '../message/setting-table.ts';
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

/** A setting of an app: the key of the command and its headers, usually one of the same name. */
export interface AppSetting {
  readonly key: string;
  readonly headers: readonly { readonly header: string; readonly form: Form }[];
  readonly needsProviderId: boolean;
}

const same = (key: string, form: Form): AppSetting => ({
  key,
  headers: [{ header: key, form }],
  needsProviderId: false,
});
const switches = (...keys: string[]): AppSetting[] => keys.map((key) => same(key, SWITCH));

/** Returns the form of a header for a setting whose values apps read unchanged. */
function formOf(key: string): Form {
  const setting = SETTINGS_BY_KEY.get(key);
  switch (setting?.kind) {
    case 'boolean':
      return SWITCH;
    case 'choice':
      return choice(...setting.values);
    case 'range':
      return RANGE_OR_NUMBER;
    case 'whole':
      return whole(setting.min, setting.max);
    case 'url':
      return WEB_URL;
    case 'header':
      return printable(256);
    default:
      throw new Error(`${key} has no form for a header`);
  }
}

const known = (...keys: string[]): AppSetting[] => keys.map((key) => same(key, formOf(key)));

/**
 * Those of Happ with a Provider ID ("Расширенные параметры", "Управление настройками приложения").
 */
const OF_PROVIDERS: readonly AppSetting[] = [
  ...known(
    ...['fragmentation-enable', 'fragmentation-packets', 'fragmentation-length'],
    ...['fragmentation-interval', 'fragmentation-maxsplit'],
    ...['subscription-auto-update-enable', 'subscription-auto-update-open-enable'],
    ...['subscription-always-hwid-enable', 'subscription-autoconnect'],
    ...['subscription-ping-onopen-enabled', 'subscription-autoconnect-type'],
    ...['notification-subs-expire', 'sub-expire', 'sub-expire-button-link'],
  ),
  same('check-url-via-proxy', WEB_URL),
  ...known('ping-type', 'ping-result', 'change-user-agent'),
  ...known('app-auto-start', 'hide-settings', 'sniffing-enable', 'subscriptions-collapse'),
  same('subscriptions-expand-now', ON_ALONE),
  ...known('server-address-resolve-enable'),
  same('server-address-resolve-dns-ip', IP),
  same('server-address-resolve-dns-domain', WEB_URL),
  ...known('per-app-proxy-mode'),
  same('per-app-proxy-list', APP_LIST),
  ...known('mux-enable', 'mux-tcp-connections', 'mux-xudp-connections', 'mux-quic'),
  ...known('noises-enable', 'noises-delay'),
  ...known('proxy-enable', 'tun-enable', 'tun-mode', 'tun-type'),
  same('exclude-routes', NETWORKS),
  same('exclude-routes-set', NETWORKS),
  same('per-app-proxy-list-invert', APP_LIST),
  same('per-app-proxy-list-set', APP_LIST),
  ...known('noises-packet-type', 'noises-rand', 'noises-rand-range'),
  same('noises-packet', printable(256)),
  ...known('dns-from-json-enable', 'hide-vpn-icon', 'manual-block-user-agent', 'dont-use-filter'),
  ...known('subscription-pin', 'subscriptions-sort-type', 'proxy-ping-timeout'),
  ...known('include-all-networks-enable', 'exclude-local-networks-enable', 'exclude-apns-enable'),
  same(
    'user-agent-geo-files',
    choice('safari-mac', 'chrome-win', 'safari-ios', 'firefox-win', 'chrome-android'),
  ),
  ...switches('no-limit-enabled', 'no-limit-xhttp-enabled'),
];

/**
 * The settings that Happ reads (app-management.md). `local-dns-enable`, `fragmentation-type` and
 * `fragmentation-advanced-param` are commands of the contract; the document lists no headers for
 * them. `color-profile` and `custom-tunnel-config` are longer than the headers of one answer may
 * be.
 */
export const HAPP_SETTINGS: readonly AppSetting[] = [
  ...OF_PROVIDERS.map((setting) => ({ ...setting, needsProviderId: true })),
  ...known('routing-enable'),
];

/**
 * The settings that INCY reads without a Provider ID (app-management.en.md, "Parameter Summary
 * Table"). It splits the mode of apps into two headers and names it differently: `on` of the
 * contract (only the listed apps) is `proxy`.
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
    needsProviderId: false,
    headers: [
      { header: 'per-app-proxy-enable', form: mapped({ on: '1', bypass: '1', off: '0' }) },
      { header: 'per-app-proxy-mode', form: mapped({ on: 'proxy', bypass: 'bypass' }) },
    ],
  },
  same('per-app-proxy-list', APP_LIST),
  same('no-limit-enabled', ON_ALONE),
];

/** The settings of apps, by the name of the app; of other apps none. */
export const SETTINGS_BY_APP: ReadonlyMap<string, readonly AppSetting[]> = new Map([
  ['Happ', HAPP_SETTINGS],
  ['INCY', INCY_SETTINGS],
]);

/** Returns the settings that an app (null: an unknown one) reads. */
export const settingsOf = (app: App | null): readonly AppSetting[] =>
  SETTINGS_BY_APP.get(app?.name ?? '') ?? [];

const RIDDEN: ReadonlySet<string> = new Set(
  [...SETTINGS_BY_APP.values()].flat().map(({ key }) => key),
);

/** Returns true if any app reads the setting from a header. */
export const isSettingRidden = (key: string): boolean => RIDDEN.has(key);

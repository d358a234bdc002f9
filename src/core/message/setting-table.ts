/**
 * The table of settings of apps: for the checks of commands, for rides on subscriptions, for
 * documents and for the console.
 */

/**
 * The values of a key; `""` resets every key.
 *
 * | Kind | Values |
 * |---|---|
 * | `boolean` | true or false, also as a number or a word |
 * | `choice` | one of a few strings |
 * | `range` | a whole number, or two as `a-b` |
 * | `whole` | a whole number within bounds |
 * | `text` | any string, or one of up to so many characters |
 * | `header` | a string that apps put into an HTTP header |
 * | `url` | an absolute http or https URL |
 * | `json` | an object, or a string |
 */
export type SettingKey = {
  readonly key: string;
  /**
   * True: the key is in newer documents than the contract's table; a value that does not fit is
   * passed on.
   */
  readonly isNewer?: true;
} & (
  | { readonly kind: 'boolean' | 'range' | 'header' | 'url' | 'json' }
  | { readonly kind: 'text'; readonly lengthMax?: number }
  | { readonly kind: 'whole'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
);

const boolean = (key: string): SettingKey => ({ key, kind: 'boolean' });
const range = (key: string): SettingKey => ({ key, kind: 'range' });
const text = (key: string): SettingKey => ({ key, kind: 'text' });
const header = (key: string): SettingKey => ({ key, kind: 'header' });
const url = (key: string): SettingKey => ({ key, kind: 'url' });
const json = (key: string): SettingKey => ({ key, kind: 'json' });
const whole = (key: string, min: number, max: number): SettingKey => ({
  key,
  kind: 'whole',
  min,
  max,
});
const short = (key: string, lengthMax: number): SettingKey => ({ key, kind: 'text', lengthMax });
const choice = (key: string, ...values: string[]): SettingKey => ({ key, kind: 'choice', values });

/** The keys of the specification, "Known settings keys", in its order. */
const OF_THE_CONTRACT: readonly SettingKey[] = [
  boolean('fragmentation-enable'),
  choice('fragmentation-packets', 'tlshello', '1-2', '1-3', '1-5'),
  range('fragmentation-length'),
  range('fragmentation-interval'),
  boolean('local-dns-enable'),
  boolean('subscription-auto-update-enable'),
  boolean('subscription-auto-update-open-enable'),
  boolean('subscription-always-hwid-enable'),
  boolean('subscription-autoconnect'),
  boolean('subscription-ping-onopen-enabled'),
  choice('subscription-autoconnect-type', 'lastused', 'lowestdelay', 'random'),
  boolean('notification-subs-expire'),
  text('check-url-via-proxy'),
  choice('ping-type', 'proxy', 'proxy-head', 'tcp', 'icmp'),
  choice('fragmentation-type', 'xray', 'advanced'),
  text('fragmentation-advanced-param'),
  header('change-user-agent'),
  boolean('app-auto-start'),
  boolean('server-address-resolve-enable'),
  text('server-address-resolve-dns-ip'),
  text('server-address-resolve-dns-domain'),
  choice('per-app-proxy-mode', 'off', 'on', 'bypass'),
  text('per-app-proxy-list'),
];

/** The keys that newer documents of the hosted service and of Happ name (app-management.md). */
const NEWER: readonly SettingKey[] = [
  range('fragmentation-maxsplit'),
  boolean('noises-enable'),
  choice('noises-packet-type', 'array', 'str', 'hex', 'base64'),
  text('noises-packet'),
  range('noises-delay'),
  range('noises-rand'),
  range('noises-rand-range'),
  boolean('mux-enable'),
  whole('mux-tcp-connections', -1, 1024),
  whole('mux-xudp-connections', -1, 1024),
  choice('mux-quic', 'reject', 'allow', 'skip'),
  boolean('sniffing-enable'),
  boolean('proxy-enable'),
  boolean('tun-enable'),
  choice('tun-mode', 'system', 'gvisor'),
  choice('tun-type', 'singbox', 'tun2proxy', 'default'),
  text('exclude-routes'),
  text('exclude-routes-set'),
  boolean('dns-from-json-enable'),
  text('per-app-proxy-list-invert'),
  text('per-app-proxy-list-set'),
  boolean('include-all-networks-enable'),
  boolean('exclude-local-networks-enable'),
  boolean('exclude-apns-enable'),
  whole('proxy-ping-timeout', 5, 15),
  choice('ping-result', 'time', 'icon'),
  json('color-profile'),
  boolean('hide-settings'),
  boolean('hide-vpn-icon'),
  boolean('subscription-pin'),
  boolean('subscriptions-collapse'),
  boolean('subscriptions-expand-now'),
  choice('subscriptions-sort-type', 'without', 'ping', 'alphabet'),
  boolean('dont-use-filter'),
  boolean('manual-block-user-agent'),
  header('user-agent-geo-files'),
  boolean('routing-enable'),
  json('custom-tunnel-config'),
  choice('sub-info-color', 'red', 'blue', 'green'),
  short('sub-info-text', 200),
  short('sub-info-button-text', 25),
  url('sub-info-button-link'),
  boolean('sub-expire'),
  url('sub-expire-button-link'),
  url('new-url'),
  text('new-domain'),
];

export const SETTING_KEYS: readonly SettingKey[] = [
  ...OF_THE_CONTRACT,
  ...NEWER.map((row): SettingKey => ({ ...row, isNewer: true })),
];

export const SETTINGS_BY_KEY: ReadonlyMap<string, SettingKey> = new Map(
  SETTING_KEYS.map((row) => [row.key, row]),
);

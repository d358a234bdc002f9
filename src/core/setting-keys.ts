/** The settings that the command `set-settings` may carry: specification, "Known settings keys". */

import {
  isRecord,
  isText,
  nameForDetail,
  type Problem,
  problem,
  REQUEST_BOUNDS,
  readJsonObject,
} from './json-input.ts';

/**
 * What a key takes. `boolean`: true or false, also as string or as 1 or 0. `choice`: one of a few
 * strings. `range`: a whole number, or two as `a-b`. `text`: any string, also an empty one.
 */
export type SettingKey =
  | { readonly key: string; readonly kind: 'boolean' | 'range' | 'text' }
  | { readonly key: string; readonly kind: 'choice'; readonly values: readonly string[] };

const boolean = (key: string): SettingKey => ({ key, kind: 'boolean' });
const range = (key: string): SettingKey => ({ key, kind: 'range' });
const text = (key: string): SettingKey => ({ key, kind: 'text' });
const choice = (key: string, ...values: string[]): SettingKey => ({ key, kind: 'choice', values });

/** Every documented key, in the order of the specification. docs/settings.md repeats this table. */
export const SETTING_KEYS: readonly SettingKey[] = [
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
  text('change-user-agent'),
  boolean('app-auto-start'),
  boolean('server-address-resolve-enable'),
  text('server-address-resolve-dns-ip'),
  text('server-address-resolve-dns-domain'),
  choice('per-app-proxy-mode', 'off', 'on', 'bypass'),
  text('per-app-proxy-list'),
];

const KNOWN: ReadonlyMap<string, SettingKey> = new Map(SETTING_KEYS.map((row) => [row.key, row]));

/** Keys that are not in the table: what an app of the provider's own understands. */
export const CUSTOM_SETTING_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Keys of one command. */
export const SETTING_COUNT_MAX = 256;

/** What the values of a key must be, for details and documents: "NAME must be …". */
export function settingRule(setting: SettingKey): string {
  switch (setting.kind) {
    case 'boolean':
      return 'true or false, as a boolean, a string, or 1 or 0';
    case 'choice':
      return `one of ${setting.values.join(', ')}`;
    case 'range':
      return 'a whole number or a range a-b';
    case 'text':
      return 'a string';
  }
}

export type SettingValue = string | number | boolean;
export type Settings = Record<string, SettingValue>;

/**
 * Checks `settings`: an object, or a string that holds one as JSON (the specification asks for
 * "valid JSON", and clients with forms send it so). Values are returned in the type in which they
 * came. What is inside is data, not fields: `null` is refused, and `""` is a text like any other.
 *
 * Refuses `settings_empty` when it is missing, not an object, not valid JSON, or holds no key. A
 * bad key or value is a problem that names the key. No value may hold CR, LF or NUL, because apps
 * put some of them into HTTP headers.
 */
export function checkSettings(
  settings: unknown,
): { settings: Settings } | 'settings_empty' | Problem {
  const given = typeof settings === 'string' ? parseJson(settings) : settings;
  if (!isRecord(given)) return 'settings_empty';
  const entries = Object.entries(given);
  if (entries.length === 0) return 'settings_empty';
  if (entries.length > SETTING_COUNT_MAX) {
    return problem(`settings must not hold more than ${SETTING_COUNT_MAX} keys`);
  }

  const checked: [string, SettingValue][] = [];
  for (const [key, value] of entries) {
    const name = `settings key ${nameForDetail(key)}`;
    const known = KNOWN.get(key);
    if (!known && !CUSTOM_SETTING_KEY.test(key)) {
      return problem(`${name} must be 1 to 64 letters, digits, dots, hyphens and underscores`);
    }
    if (!isSettingValue(value)) {
      return problem(`${name} must be a string of whole Unicode characters, a number or a boolean`);
    }
    if (typeof value === 'string' && /[\r\n\0]/.test(value)) {
      return problem(`${name} must not hold line breaks or NUL`);
    }
    if (known && !fits(known, value)) return problem(`${name} must be ${settingRule(known)}`);
    checked.push([key, value]);
  }
  return { settings: Object.fromEntries(checked) };
}

/** JSON.parse reads `1e999` as infinity, which JSON cannot write. */
function isSettingValue(value: unknown): value is SettingValue {
  return isText(value) || typeof value === 'boolean' || Number.isFinite(value);
}

function fits(setting: SettingKey, value: SettingValue): boolean {
  switch (setting.kind) {
    case 'boolean':
      return typeof value === 'boolean' || ['true', 'false', '1', '0'].includes(String(value));
    case 'choice':
      return setting.values.some((allowed) => allowed === value);
    case 'range':
      return isRange(String(value));
    case 'text':
      return typeof value === 'string';
  }
}

/** `a` or `a-b` with a not above b, each of at most 15 digits. */
function isRange(value: string): boolean {
  const [, from, to] = /^([0-9]{1,15})(?:-([0-9]{1,15}))?$/.exec(value) ?? [];
  return from !== undefined && (to === undefined || Number(from) <= Number(to));
}

function parseJson(json: string): unknown {
  const read = readJsonObject(json, REQUEST_BOUNDS, 'settings');
  return 'object' in read ? read.object : null;
}

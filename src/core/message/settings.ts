/** The settings of the command `set-settings`: specification, "Known settings keys". */

import {
  isRecord,
  isText,
  nameForDetail,
  REQUEST_BOUNDS,
  readInteger,
  readJsonObject,
} from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';

/**
 * The values of a key; `""` resets every key.
 *
 * | Kind | Values |
 * |---|---|
 * | `boolean` | true or false, also as a number or a word |
 * | `choice` | one of a few strings |
 * | `range` | a whole number, or two as `a-b` |
 * | `text` | any string |
 * | `header` | a string that apps put into an HTTP header |
 */
export type SettingKey =
  | { readonly key: string; readonly kind: 'boolean' | 'range' | 'text' | 'header' }
  | { readonly key: string; readonly kind: 'choice'; readonly values: readonly string[] };

const boolean = (key: string): SettingKey => ({ key, kind: 'boolean' });
const range = (key: string): SettingKey => ({ key, kind: 'range' });
const text = (key: string): SettingKey => ({ key, kind: 'text' });
const header = (key: string): SettingKey => ({ key, kind: 'header' });
const choice = (key: string, ...values: string[]): SettingKey => ({ key, kind: 'choice', values });

/** The documented keys in the order of the specification; docs/api.md is made of them. */
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
  header('change-user-agent'),
  boolean('app-auto-start'),
  boolean('server-address-resolve-enable'),
  text('server-address-resolve-dns-ip'),
  text('server-address-resolve-dns-domain'),
  choice('per-app-proxy-mode', 'off', 'on', 'bypass'),
  text('per-app-proxy-list'),
];

const KNOWN: ReadonlyMap<string, SettingKey> = new Map(SETTING_KEYS.map((row) => [row.key, row]));

/** Keys outside of the table, for a provider's own app. */
export const CUSTOM_SETTING_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Most keys of one command. */
export const SETTING_COUNT_MAX = 256;

/** Words for true and false, in any case. */
const BOOLEAN_WORDS = ['true', 'false', '1', '0', 'on', 'off', 'yes', 'no'];

/** A whole number or a range, with blanks around numbers. */
const RANGE = /^ *([0-9]{1,15}) *(?:- *([0-9]{1,15}) *)?$/;

/** Characters that HTTP headers cannot have. */
const NOT_IN_HEADER = /[\r\n\0]/;

/** The rule of each kind, after "must be", and its check. */
const KINDS: Readonly<
  Record<Exclude<SettingKey['kind'], 'choice'>, { rule: string; fits(value: unknown): boolean }>
> = {
  boolean: { rule: 'true or false, 1 or 0, on or off, yes or no', fits: isBoolean },
  range: { rule: 'a whole number or a range a-b', fits: isRange },
  text: { rule: 'a string', fits: isText },
  header: {
    rule: 'a string without line breaks and NUL',
    fits: (value) => isText(value) && !NOT_IN_HEADER.test(value),
  },
};

/** Returns the rule of a key, after "NAME must be", for details and documents. */
export function settingRule(setting: SettingKey): string {
  return setting.kind === 'choice'
    ? `one of ${setting.values.join(', ')}`
    : KINDS[setting.kind].rule;
}

export type Settings = Record<string, unknown>;

/**
 * Reads `settings`: an object, or a string with one as JSON. Returns values unchanged. A documented
 * key takes its documented values and `""`, other keys take any JSON value.
 *
 * Refuses `settings_empty` for no object, malformed JSON or no keys, and `malformed` for a wrong
 * value of a documented key. Leaves out other keys that devices cannot read, with a sentence in
 * `leftOut`; refuses `malformed` if no key remains.
 */
export function readSettings(
  settings: unknown,
): { settings: Settings; leftOut?: string } | Refused<'settings_empty'> | Misfit {
  const given = typeof settings === 'string' ? parseJson(settings) : settings;
  if (!isRecord(given)) return new Refused('settings_empty');
  const entries = Object.entries(given);
  if (entries.length === 0) return new Refused('settings_empty');
  if (entries.length > SETTING_COUNT_MAX) {
    return malformed(`settings must not hold more than ${SETTING_COUNT_MAX} keys`);
  }

  const checked: [string, unknown][] = [];
  let oddity: string | null = null;
  for (const [key, value] of entries) {
    const known = KNOWN.get(key);
    const rule = known ? brokenRule(known, value) : brokenCustomRule(key, value);
    const sentence = rule && `settings key ${nameForDetail(key)} must ${rule}`;
    if (known && sentence !== null) return malformed(sentence);
    if (sentence === null) checked.push([key, value]);
    else oddity ??= sentence;
  }
  if (oddity === null) return { settings: given };
  if (checked.length === 0) return malformed(oddity);
  const others = entries.length - checked.length - 1;
  const leftOut = `${oddity}; it was left out${others > 0 ? `, and so were ${others} more` : ''}`;
  return { settings: Object.fromEntries(checked), leftOut };
}

function brokenRule(known: SettingKey, value: unknown): string | null {
  return value === '' || fits(known, value) ? null : `be ${settingRule(known)}`;
}

function brokenCustomRule(key: string, value: unknown): string | null {
  if (!CUSTOM_SETTING_KEY.test(key)) {
    return 'be 1 to 64 letters, digits, dots, hyphens and underscores';
  }
  return canBeWritten(value) ? null : 'hold whole Unicode characters and finite numbers';
}

/**
 * Returns true if every JSON reader accepts the value. JSON.parse reads `1e999` as infinity and
 * `"\ud83d"` as half a character, for which other readers reject the whole message.
 */
function canBeWritten(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(canBeWritten);
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && canBeWritten(part));
}

function fits(setting: SettingKey, value: unknown): boolean {
  return setting.kind === 'choice'
    ? setting.values.some((allowed) => allowed === value)
    : KINDS[setting.kind].fits(value);
}

function isBoolean(value: unknown): boolean {
  if (typeof value === 'boolean' || value === 1 || value === 0) return true;
  if (typeof value !== 'string' || value.length > 5) return false;
  const word = value.toLowerCase();
  return BOOLEAN_WORDS.includes(word);
}

/** Returns true for a whole number, or `a-b` with a <= b. */
function isRange(value: unknown): boolean {
  if (typeof value === 'number') return readInteger(value) !== null;
  const [, from, to] = (typeof value === 'string' && RANGE.exec(value)) || [];
  return from !== undefined && (to === undefined || Number(from) <= Number(to));
}

function parseJson(json: string): unknown {
  const read = readJsonObject(json, REQUEST_BOUNDS, 'settings');
  return isRefused(read) ? null : read;
}

/** The settings that the command `set-settings` may carry: specification, "Known settings keys". */

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
 * The values of a key beside `""`, which resets it. `boolean`: true or false, also as a number or a
 * word. `choice`: one of a few strings. `range`: a whole number, or two as `a-b`. `text`: any
 * string. `header`: a string that apps put into an HTTP header.
 */
export type SettingKey =
  | { readonly key: string; readonly kind: 'boolean' | 'range' | 'text' | 'header' }
  | { readonly key: string; readonly kind: 'choice'; readonly values: readonly string[] };

const boolean = (key: string): SettingKey => ({ key, kind: 'boolean' });
const range = (key: string): SettingKey => ({ key, kind: 'range' });
const text = (key: string): SettingKey => ({ key, kind: 'text' });
const header = (key: string): SettingKey => ({ key, kind: 'header' });
const choice = (key: string, ...values: string[]): SettingKey => ({ key, kind: 'choice', values });

/** Every documented key, in the order of the specification. docs/settings.md is made of it. */
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

/** Keys that are not in the table: what an app of the provider's own understands. */
export const CUSTOM_SETTING_KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Keys of one command. */
export const SETTING_COUNT_MAX = 256;

/** Texts that stand for true and false, in any case of letters. */
const BOOLEAN_WORDS = ['true', 'false', '1', '0', 'on', 'off', 'yes', 'no'];

/** Digits of a whole number, or of two ends of a range, with blanks around them. */
const RANGE = /^ *([0-9]{1,15}) *(?:- *([0-9]{1,15}) *)?$/;

/** Signs that end a header, or that no header may have. */
const NOT_IN_HEADER = /[\r\n\0]/;

/** The rule of each kind behind "must be", and its check. */
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

/** The rule of a key's values, for details and documents: "NAME must be …". */
export function settingRule(setting: SettingKey): string {
  return setting.kind === 'choice'
    ? `one of ${setting.values.join(', ')}`
    : KINDS[setting.kind].rule;
}

export type Settings = Record<string, unknown>;

/**
 * Reads `settings`: an object, or a string that holds one as JSON (the specification asks for
 * "valid JSON", and clients with forms send it so). Values are returned as they came. A documented
 * key takes its documented values and `""`; any other key takes any JSON value.
 *
 * Refuses `settings_empty` when it is missing, not an object, not valid JSON, or holds no key, and
 * as `malformed` a bad value of a documented key. A custom key that cannot be passed on is left
 * out, and `leftOut` names it: the rest of the set is worth more. With nothing left, it is
 * `malformed`.
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
 * True if JSON can carry the value to the device. JSON.parse reads `1e999` as infinity and
 * `"\ud83d"` as half a character; readers in other languages refuse those with all around them.
 * The recursion is as deep as the common reader lets JSON nest.
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

/** A whole number or `a-b` with a not above b. */
function isRange(value: unknown): boolean {
  if (typeof value === 'number') return readInteger(value) !== null;
  const [, from, to] = (typeof value === 'string' && RANGE.exec(value)) || [];
  return from !== undefined && (to === undefined || Number(from) <= Number(to));
}

function parseJson(json: string): unknown {
  const read = readJsonObject(json, REQUEST_BOUNDS, 'settings');
  return isRefused(read) ? null : read;
}

/** The settings of the command `set-settings`; `setting-table.ts` has the known keys. */

import {
  isRecord,
  isText,
  nameForDetail,
  REQUEST_BOUNDS,
  readInteger,
  readJsonObject,
} from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import { SETTINGS_BY_KEY, type SettingKey } from './setting-table.ts';
import { isWebUrl } from './url.ts';

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

/** The rule of each kind without values or bounds, after "must be", and its check. */
const KINDS: Readonly<
  Record<
    Exclude<SettingKey['kind'], 'choice' | 'whole'>,
    { rule: string; fits(value: unknown): boolean }
  >
> = {
  boolean: { rule: 'true or false, 1 or 0, on or off, yes or no', fits: isBoolean },
  range: { rule: 'a whole number or a range a-b', fits: isRange },
  text: { rule: 'a string', fits: isText },
  header: {
    rule: 'a string without line breaks and NUL',
    fits: (value) => isText(value) && !NOT_IN_HEADER.test(value),
  },
  url: {
    rule: 'an absolute http or https URL',
    fits: (value) => typeof value === 'string' && isWebUrl(value),
  },
  json: {
    rule: 'an object or a string',
    fits: (value) => isText(value) || (isRecord(value) && canBeWritten(value)),
  },
};

/** Returns the rule of a key, after "NAME must be", for details and documents. */
export function settingRule(setting: SettingKey): string {
  switch (setting.kind) {
    case 'choice':
      return `one of ${setting.values.join(', ')}`;
    case 'whole':
      return `a whole number from ${setting.min} to ${setting.max}`;
    case 'text':
      return setting.lengthMax === undefined
        ? KINDS.text.rule
        : `a string of up to ${setting.lengthMax} characters`;
    default:
      return KINDS[setting.kind].rule;
  }
}

export type Settings = Record<string, unknown>;

/**
 * Reads `settings`: an object, or a string with one as JSON. Returns values unchanged. A known key
 * takes its values and `""`, other keys take any JSON value.
 *
 * Refuses `settings_empty` for no object, malformed JSON or no keys, and `malformed` for a wrong
 * value of a key of the contract. Passes on a wrong value of a newer key, and leaves out keys and
 * values that devices cannot read, both with a sentence in `note`; refuses `malformed` if no key
 * remains.
 */
export function readSettings(
  settings: unknown,
): { settings: Settings; note?: string } | Refused<'settings_empty'> | Misfit {
  const given = typeof settings === 'string' ? parseJson(settings) : settings;
  if (!isRecord(given)) return new Refused('settings_empty');
  const entries = Object.entries(given);
  if (entries.length === 0) return new Refused('settings_empty');
  if (entries.length > SETTING_COUNT_MAX) {
    return malformed(`settings must not hold more than ${SETTING_COUNT_MAX} keys`);
  }

  const checked: [string, unknown][] = [];
  const leftOut: string[] = [];
  const odd: string[] = [];
  for (const [key, value] of entries) {
    const known = SETTINGS_BY_KEY.get(key);
    const rule = known ? brokenRule(known, value) : null;
    if (known && rule !== null && !known.isNewer) {
      return malformed(`settings key ${nameForDetail(key)} must ${rule}`);
    }
    const unreadable = brokenCustomRule(key, value);
    if (unreadable !== null) {
      leftOut.push(`settings key ${nameForDetail(key)} must ${unreadable}`);
      continue;
    }
    if (rule !== null) odd.push(`settings key ${nameForDetail(key)} should ${rule}`);
    checked.push([key, value]);
  }
  const [first] = leftOut;
  if (first !== undefined && checked.length === 0) return malformed(first);
  const note = [
    ...counted(leftOut, 'it was left out', 'and so were'),
    ...counted(odd, 'it was passed on as it is', 'as were'),
  ].join('; ');
  const passedOn = first === undefined ? given : Object.fromEntries(checked);
  return { settings: passedOn, ...(note !== '' && { note }) };
}

/** Returns a sentence with the first problem, its consequence, and the number of the others. */
function counted([first, ...others]: readonly string[], done: string, more: string): string[] {
  if (first === undefined) return [];
  return [`${first}; ${done}${others.length > 0 ? `, ${more} ${others.length} more` : ''}`];
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
  switch (setting.kind) {
    case 'choice':
      return setting.values.some((allowed) => allowed === value);
    case 'whole':
      return isWhole(value, setting.min, setting.max);
    case 'text':
      return isText(value) && [...value].length <= (setting.lengthMax ?? value.length);
    default:
      return KINDS[setting.kind].fits(value);
  }
}

function isWhole(value: unknown, min: number, max: number): boolean {
  if (typeof value !== 'number' && !(typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value))) {
    return false;
  }
  const number = Number(value);
  return Number.isInteger(number) && number >= min && number <= max;
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

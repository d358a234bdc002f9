/**
 * JSON from outside. {@link readJsonObject} reads all of it: bodies, frames, files and answers of
 * other servers. The other functions read the lenient JSON of POST endpoints, where clients send
 * numbers and booleans as strings, and empty fields.
 */

import { type Misfit, malformed, Refused } from './outcome.ts';

/** Most nested levels of arrays and objects. */
export const JSON_NESTING_MAX = 32;

/** Bounds beyond which JSON is not decoded. */
export interface JsonBounds {
  readonly bytesMax: number;
  /** Values of arrays and members of objects in all, as they cost more than their bytes. */
  readonly valuesMax: number;
}

/** Bounds of a request: the largest configuration of an app fits as a setting. */
export const REQUEST_BOUNDS: JsonBounds = { bytesMax: 256 * 1024, valuesMax: 10_000 };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON object. Checks the bounds byte by byte before decoding, as `JSON.parse` takes a
 * second for a hundred thousand brackets. Refuses `over_bounds` and `malformed`, with `subject`,
 * such as "the body", at the start of the detail.
 */
export function readJsonObject(
  json: Uint8Array | string,
  bounds: JsonBounds,
  subject: string,
): Record<string, unknown> | Misfit<'over_bounds' | 'malformed'> {
  const brokenBound = boundBrokenBy(json, bounds);
  if (brokenBound !== null) {
    return new Refused('over_bounds', {
      detail: `${subject} must not ${brokenBound}`,
    }) as Misfit<'over_bounds'>;
  }
  try {
    const value: unknown = JSON.parse(typeof json === 'string' ? json : utf8.decode(json));
    if (isRecord(value)) return value;
  } catch {
    // Malformed UTF-8 or JSON is refused below.
  }
  return malformed(`${subject} must be a JSON object in UTF-8`);
}

/** Returns the broken bound as a phrase after "must not"; null: none. */
export function boundBrokenBy(
  json: Uint8Array | string,
  { bytesMax, valuesMax }: JsonBounds,
): string | null {
  const length = typeof json === 'string' ? byteLength(json) : json.length;
  if (length > bytesMax) return `be longer than ${bytesMax} bytes`;
  const shape = measure(typeof json === 'string' ? Buffer.from(json, 'utf8') : json, valuesMax);
  if (shape === 'deep') return `nest deeper than ${JSON_NESTING_MAX} levels`;
  return shape === 'many' ? `hold more than ${valuesMax} values` : null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Brackets and braces differ by this bit alone. */
const BRACE_BIT = 0x20;
const OPENER = 0x7b;
const CLOSER = 0x7d;

/** Measures nesting and values by the ASCII delimiters of JSON. */
function measure(bytes: Uint8Array, valuesMax: number): 'fits' | 'deep' | 'many' {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    // Skips blanks.
    if (byte < QUOTE) continue;
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
    } else if (byte === COMMA) {
      if (++values > valuesMax) return 'many';
    } else if ((byte | BRACE_BIT) === OPENER) {
      if (++depth > JSON_NESTING_MAX) return 'deep';
      if (++values > valuesMax) return 'many';
    } else if ((byte | BRACE_BIT) === CLOSER) {
      depth -= 1;
    }
  }
  return 'fits';
}

/** Returns the index of the quote that ends the string from `at` on. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}

/** Returns the length of a text in UTF-8, bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

const DETAIL_NAME_LENGTH_MAX = 64;

/** Cleans a client's key for a response header: visible ASCII, cut to 64 characters. */
export function nameForDetail(key: string): string {
  return key.replace(/[^\x21-\x7e]/g, '').slice(0, DETAIL_NAME_LENGTH_MAX);
}

/** Returns true for a JSON object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for a field that is missing, `null` or empty. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/**
 * Reads a whole number of at most 15 digits: a JSON number, or decimal digits alone. Returns null
 * for all other values.
 *
 * @example readInteger('1e3') // null
 */
export function readInteger(value: unknown): number | null {
  if (typeof value === 'string') return /^[0-9]{1,15}$/.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e15
    ? value
    : null;
}

/** Reads `true`, `"true"`, 1 or `"1"`, and likewise for false. Returns null for other values. */
export function readBoolean(value: unknown): boolean | null {
  if (value === true || value === 'true' || value === 1 || value === '1') return true;
  if (value === false || value === 'false' || value === 0 || value === '0') return false;
  return null;
}

/**
 * Returns true for a text that UTF-8 can encode. JSON can contain half of a surrogate pair
 * (`"\ud83d"`), which would reach the device as another text.
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/**
 * Splits a comma-separated list; drops blanks around commas and empty items.
 *
 * @example splitList('android, ios') // ['android', 'ios']
 */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

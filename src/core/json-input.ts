/**
 * JSON from outside. {@link readJsonObject} is the one reader of it: bodies, frames, files, answers
 * of other servers. The rest reads the loose JSON of the POST endpoints: clients that are built
 * around HTML forms send numbers and booleans as strings, and every field whether filled in or not.
 */

import { type Misfit, malformed, Refused } from './outcome.ts';

/** Levels of arrays and objects within each other that any JSON from outside may have. */
export const JSON_NESTING_MAX = 32;

/** The cost that JSON may have: beyond it nothing is decoded and nothing is built. */
export interface JsonBounds {
  readonly bytesMax: number;
  /** Values of arrays and members of objects, all together; keys cost more than their bytes say. */
  readonly valuesMax: number;
}

/** Bounds of a request, with room for the largest configuration that apps take as a setting. */
export const REQUEST_BOUNDS: JsonBounds = { bytesMax: 256 * 1024, valuesMax: 10_000 };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The object in JSON from outside. Bounds are checked by one look at each byte: `JSON.parse`
 * takes a second for a hundred thousand brackets, and walking what it made takes longer. A text is
 * measured in UTF-8. `subject` begins the detail of a refusal, such as "the body": `over_bounds`,
 * before anything is decoded, or `malformed`.
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
    // Not UTF-8 or not JSON: refused below.
  }
  return malformed(`${subject} must be a JSON object in UTF-8`);
}

/** The bound that a piece of JSON breaks, behind "must not"; null: none. */
function boundBrokenBy(
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

/** Finds what is over its bound. The signs of JSON are ASCII; no byte of other characters is. */
function measure(bytes: Uint8Array, valuesMax: number): 'fits' | 'deep' | 'many' {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    // Most bytes are none of these signs, or blanks.
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

/** The place of the quote that ends the string that begins at `at`. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return end;
}

/** Bytes of a text in UTF-8: bounds of what is kept or parsed are bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

const DETAIL_NAME_LENGTH_MAX = 64;

/** A key that a client chose, fit for a response header: visible ASCII, cut to 64 characters. */
export function nameForDetail(key: string): string {
  return key.replace(/[^\x21-\x7e]/g, '').slice(0, DETAIL_NAME_LENGTH_MAX);
}

/** A JSON object, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null` and `""` count as a field that was not sent. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/**
 * A whole number of at most 15 digits, as a JSON number or as plain decimal digits (no sign,
 * exponent, fraction, hex or blanks); null for anything else.
 */
export function readInteger(value: unknown): number | null {
  if (typeof value === 'string') return /^[0-9]{1,15}$/.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e15
    ? value
    : null;
}

/**
 * A boolean as `true`, `"true"`, 1 or `"1"` (integers may come as digit strings), and likewise for
 * false; null for anything else.
 */
export function readBoolean(value: unknown): boolean | null {
  if (value === true || value === 'true' || value === 1 || value === '1') return true;
  if (value === false || value === 'false' || value === 0 || value === '0') return false;
  return null;
}

/**
 * True for a text that UTF-8 can carry. JSON can name half of a surrogate pair (`"\ud83d"`); such a
 * string has no UTF-8 form, and the device would get another text than was sent.
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** The items of a comma-separated list: blanks around commas and empty items are dropped. */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/**
 * Reads the loose JSON of the two POST endpoints: clients that are built around HTML forms send
 * numbers and booleans as strings, and every field whether it is filled in or not.
 */

/**
 * Why an input is refused: one plain ASCII sentence for `x-error-detail` that names the field and
 * the rule. It never repeats a value, and a key only as {@link nameForDetail} leaves it.
 */
export interface Problem {
  readonly problem: string;
}

/** A refusal; `sentence` must be ASCII without line breaks. */
export function problem(sentence: string): Problem {
  return { problem: sentence };
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
 * Is this a text that UTF-8 can carry? JSON can name half of a surrogate pair (`"\ud83d"`); such a
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

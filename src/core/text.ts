/** Cleans texts before they are stored. Lengths count code points, not UTF-16 units. */

const BREAKS_LINE = /[\p{Cc}\u2028\u2029]/gu;

/**
 * Replaces line breaks and control characters in a note, so that a link is not refused for its
 * note.
 */
export function tidyNote(note: string): string {
  return note.replace(BREAKS_LINE, ' ');
}

/** Returns a text that was read as Latin-1 as UTF-8, if its bytes are valid UTF-8. */
export function utf8InLatin1(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  const utf8 = Buffer.from(text, 'latin1').toString('utf8');
  return utf8.includes('\uFFFD') ? text : utf8;
}

/** The form of most facts: printable ASCII. */
const TIDY = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029\uFFFD]+/gu;

/**
 * Cleans a text that a device reports about itself: one line, trimmed, cut to `lengthMax` code
 * points. A device is never refused for such a text.
 */
export function tidyFact(value: string, lengthMax: number): string {
  if (value.length <= lengthMax && TIDY.test(value)) return value;
  const line = value.replace(NOT_ONE_LINE, ' ').trim();
  return line.length <= lengthMax ? line : [...line].slice(0, lengthMax).join('');
}

/**
 * Returns a text with A to Z in lower case, as `lower` of both databases does.
 *
 * @example asciiLower('ANNA İ') // 'anna İ'
 */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (found) => found.toLowerCase());
}

/** Makes texts of others fit to keep. Lengths count code points, not UTF-16 units. */

const BREAKS_LINE = /[\p{Cc}\u2028\u2029]/gu;

/** A note with blanks for what is not one line: the link is worth more than its note. */
export function tidyNote(note: string): string {
  return note.replace(BREAKS_LINE, ' ');
}

/** The look of most facts. */
const TIDY = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029\uFFFD]+/gu;

/**
 * A text that a device volunteered about itself, made fit to keep: one line, trimmed, cut to
 * `lengthMax` code points. A device is never turned away for what it calls itself.
 */
export function tidyFact(value: string, lengthMax: number): string {
  if (value.length <= lengthMax && TIDY.test(value)) return value;
  const line = value.replace(NOT_ONE_LINE, ' ').trim();
  return line.length <= lengthMax ? line : [...line].slice(0, lengthMax).join('');
}

/** What the product asks of texts that it keeps. Lengths count code points, not UTF-16 units. */

/** One line: no control characters, no line or paragraph separators, nothing that was not UTF-8. */
const ONE_LINE = '[^\\p{Cc}\\u2028\\u2029\\uFFFD]';

/** Notes and domain names: one line of up to 255 code points (specification, "Limits"). */
export const NOTE = new RegExp(`^${ONE_LINE}{0,255}$`, 'u');

/** What most facts look like. */
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

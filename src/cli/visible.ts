/** Text of others on a terminal, where it must not move the cursor or turn a line around. */

/** Control characters, line and paragraph separators, marks that turn the direction of text. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text with an escape, such as `\u001b`, for each sign that would not be seen. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

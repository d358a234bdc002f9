/**
 * Shows foreign text harmlessly, on a terminal and in a log: names that devices report, notes, and
 * the contents of files and answers.
 */

const LINE_FEED = '\n';

/** Control characters, line and paragraph separators, marks that change the direction of text. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Escapes invisible characters, so that foreign text cannot control the terminal: `\u001b`. JSON
 * stays JSON of the same value.
 *
 * @example visible('a\u001b[1mb') // 'a\\u001b[1mb'
 */
export const visible = (text: string): string => text.replace(UNSEEN, escaped);

/** Escapes as {@link visible} does, but keeps line feeds. */
export const visibleLines = (text: string): string =>
  text.replace(UNSEEN, (sign) => (sign === LINE_FEED ? sign : escaped(sign)));

/** Replaces each invisible character by a blank: for a person, who needs no code of it. */
export const withoutUnseen = (text: string): string => text.replace(UNSEEN, ' ');

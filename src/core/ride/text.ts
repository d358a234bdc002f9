/** Texts in headers: shortened to the length that apps show, in base64. */

import { TEXT_LENGTH_MAX } from '../app/make.ts';

/**
 * The most lines of an announcement: INCY shows five. For the most characters see
 * `App.textLengthMax`. Characters are UTF-16 units, as on Android. An app that counts code points
 * or graphemes counts fewer, so no app shortens the text again; 200 take at most 600 bytes.
 */
const TEXT_LINES_MAX = 5;

const ELLIPSIS = '\u2026';
const BASE64 = 'base64:';
/** An announcement of no text. An app that keeps a text until another comes shows none then. */
export const NO_TEXT = BASE64;
/** The most characters of an encoded text of {@link TEXT_LENGTH_MAX}. */
export const ENCODED_LENGTH_MAX = BASE64.length + (TEXT_LENGTH_MAX * 3 * 4) / 3;
/**
 * The most characters of an announcement that are read; the rest of a panel's header would be cut
 * anyway.
 */
const READ_LENGTH_MAX = 4096;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns a text in the form that apps read from a header: `base64:` and its UTF-8. */
export function encodeText(text: string): string {
  return `${BASE64}${Buffer.from(text, 'utf8').toString('base64')}`;
}

/**
 * Returns a text without control characters, empty lines and double blanks: an empty line would use
 * one of the five.
 *
 * @example tidyLines(' one \r\n\r\n two  three') // 'one\ntwo three'
 */
export function tidyLines(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ *\n[ \n]*/g, '\n')
    .trim();
}

/**
 * Shortens a text of tidy lines to a length and a number of lines, both at least one. Cuts at a
 * word and ends with an ellipsis within the bound. Never cuts inside a grapheme that fits as a
 * whole.
 *
 * @example cutText('one two three', 9) // 'one two…'
 */
export function cutText(
  text: string,
  lengthMax = TEXT_LENGTH_MAX,
  linesMax = TEXT_LINES_MAX,
): string {
  const lines = text.split('\n', linesMax + 1);
  const kept = lines.slice(0, linesMax).join('\n');
  if (lines.length <= linesMax && kept.length <= lengthMax) return kept;
  const end = lengthMax - ELLIPSIS.length;
  const head = kept.length <= end ? kept : atWord(kept, atGrapheme(kept, end));
  return `${head.trimEnd()}${ELLIPSIS}`;
}

/** Returns the last end of a grapheme of a text up to `end`. */
function atGrapheme(text: string, end: number): number {
  let at = 0;
  for (const { index, segment } of graphemes.segment(text)) {
    if (index + segment.length > end) break;
    at = index + segment.length;
  }
  if (at > 0 || end < 1) return at;
  // A single grapheme with hundreds of marks is cut between code points.
  return text.codePointAt(end - 1) !== text.charCodeAt(end - 1) ? end - 1 : end;
}

/** Returns the whole words of a text before `end`, but at least half of the text. */
function atWord(text: string, end: number): string {
  const head = text.slice(0, end);
  if (/^\s/.test(text.slice(end))) return head;
  const blank = head.search(/\s\S*$/);
  return blank < end / 2 ? head : head.slice(0, blank);
}

/** Which announcement apps show: the message, the panel's own, or both. */
const ANNOUNCE_MODES = ['message', 'panel', 'both'] as const;
export type AnnounceMode = (typeof ANNOUNCE_MODES)[number];

/**
 * Returns the header `announce` for a message of the app's length and the panel's own announcement
 * (null: none). `panel`: the panel's text unchanged if it has one. `both`: the message, a line
 * feed, and the panel's text, which is shortened first, to 200 characters together.
 */
export function announceWith(
  panelAnnounce: string | null,
  text: string,
  mode: AnnounceMode,
): string {
  const panel = readAnnounce(panelAnnounce ?? '');
  if (mode === 'panel' && panel !== '') return panelAnnounce ?? '';
  const message = tidyLines(text);
  if (mode !== 'both' || panel === '') return encodeText(message);
  const lengthLeft = TEXT_LENGTH_MAX - message.length - 1;
  const linesLeft = TEXT_LINES_MAX - message.split('\n').length;
  // An ellipsis alone has no content.
  if (lengthLeft < 2 || linesLeft < 1) return encodeText(message);
  return encodeText(`${message}\n${cutText(panel, lengthLeft, linesLeft)}`);
}

/**
 * Reads the text of a header `announce`: plain or `base64:`, also in the URL-safe alphabet. Returns
 * an empty text for none, for malformed UTF-8, and for `0`, by which panels remove a text.
 *
 * @example readAnnounce('base64:SGk=') // 'Hi'
 */
export function readAnnounce(value: string): string {
  const given = value.trim().slice(0, READ_LENGTH_MAX);
  const tidy = tidyLines(
    given.startsWith(BASE64)
      ? (decoded(Buffer.from(given.slice(BASE64.length), 'base64')) ?? '')
      : plain(given),
  );
  return tidy === '0' ? '' : tidy;
}

/** Reads a plain header: `fetch` returns each byte of UTF-8 as one character. */
function plain(value: string): string {
  const isBytes = /^[\0-\xff]*$/.test(value);
  return (isBytes ? decoded(Buffer.from(value, 'latin1')) : null) ?? value;
}

/** Returns UTF-8 as a text; null: it is malformed. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

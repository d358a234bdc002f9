/** HTML that bodies of notifications may hold: the filter, and how much it is asked to filter. */

import sanitizeHtml from 'sanitize-html';
import { PUSH_ENCODED_MAX } from '../formats.ts';
import { byteLength } from '../json-input.ts';
import { isUrlToOpen, isWebUrl } from './url.ts';

/** Tags that survive the filter: specification, "Limits". */
export const ALLOWED_TAGS: readonly string[] = [
  ...['a', 'b', 'big', 'blockquote', 'br', 'cite', 'del', 'dfn', 'div', 'em', 'i', 'img', 'li'],
  ...['p', 's', 'small', 'span', 'strike', 'strong', 'sub', 'sup', 'tt', 'u', 'ul'],
];

/** Elements that vanish with what they hold, because a browser would not show it as text. */
const DROPPED_WITH_CONTENT = [
  ...['script', 'style', 'textarea', 'option', 'xmp'],
  ...['noscript', 'noembed', 'noframes', 'iframe'],
];

type Attributes = Record<string, string>;

/** Attributes that survive: specification, "Limits"; null drops the attribute. */
const ATTRIBUTES: ReadonlyMap<string, (value: string) => string | null> = new Map([
  ['href', (value: string) => (isUrlToOpen(value.trim()) ? value.trim() : null)],
  ['src', (value: string) => (isWebUrl(value.trim()) ? value.trim() : null)],
  ['title', (value: string) => value],
  ['alt', (value: string) => value],
  ['target', (value: string) => (value === '_blank' ? value : null)],
]);

function filterAttributes(attributes: Attributes): Attributes {
  const allowed: Attributes = {};
  for (const [name, filter] of ATTRIBUTES) {
    const value = attributes[name];
    const filtered = value === undefined ? null : filter(value);
    if (filtered !== null) allowed[name] = filtered;
  }
  return allowed;
}

const FILTER: sanitizeHtml.IOptions = {
  allowedTags: [...ALLOWED_TAGS],
  allowedAttributes: { '*': [...ATTRIBUTES.keys()] },
  // filterAttributes judges the addresses: the library knows lists of schemes to allow, not to
  // deny.
  allowedSchemesAppliedToAttributes: [],
  nonTextTags: DROPPED_WITH_CONTENT,
  selfClosing: ['br', 'img'],
  transformTags: {
    '*': (tagName, attributes) => ({ tagName, attribs: filterAttributes(attributes) }),
  },
};

/**
 * Filters HTML: tags and attributes other than those of the specification's limits table are
 * dropped (the text inside such tags stays), URLs of anchors must pass {@link isUrlToOpen}, images
 * {@link isWebUrl}. The result is well-formed HTML in which `&`, `<` and `>` of the text are
 * escaped, so plain text such as `5 > 3` comes back as `5 &gt; 3`. Filtering twice changes nothing
 * in what is not longer than {@link PUSH_ENCODED_MAX}.
 *
 * Takes time that grows with the square of the number of tags: bound the input first.
 */
export function sanitizeBody(html: string): string {
  const filtered = sanitizeHtml(html, FILTER);
  // Elements such as svg and select have rules of nesting of their own. With them gone, a second
  // pass reads the rest as the device will, and closes what it would close. HTML that is too large
  // for any device is spared it.
  const isDone = filtered.length > PUSH_ENCODED_MAX || !filtered.includes('<');
  return isDone ? filtered : sanitizeHtml(filtered, FILTER);
}

/** True if filtered HTML shows anything: a visible character or an image. */
export function showsAnything(filtered: string): boolean {
  const text = filtered.replace(/<[^>]*>/g, '').replace(/[\s\p{Cc}\p{Cf}]/gu, '');
  return text !== '' || / src="http/i.test(filtered);
}

/** Elements that stand on lines of their own, and the line break itself. */
const BREAKS_LINE = /<(?:br|\/?(?:blockquote|div|li|p|ul))(?: [^>]*)?\/?>/g;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/**
 * Turns filtered HTML into plain text, for platforms that show no HTML: blocks and line breaks
 * become line breaks, an image becomes its `alt`, blanks are as a browser has them.
 */
export function plainText(filtered: string): string {
  return filtered
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(BREAKS_LINE, '\n')
    .replace(/<img(?: [^>]*)? alt="([^"]*)"[^>]*>/g, '$1')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/ *\n */g, '\n')
    .replace(/ {2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * The HTML that one form may hold before filtering, all bodies together. A quarter of a megabyte of
 * nested tags kept the filter busy for seconds, and everybody else waiting. Text and allowed tags
 * beyond any of the bounds encode to more than {@link PUSH_ENCODED_MAX} anyway.
 */
const HTML_BYTES_MAX = 16_384;
const HTML_TAG_COUNT_MAX = 1000;
/** Tags among them that begin an element: each costs more than all others together. */
const HTML_ELEMENT_COUNT_MAX = 512;

/** Adds up the HTML of one form, before any of it is filtered. */
export class HtmlBudget {
  #bytes = 0;
  #tagCount = 0;
  #elementCount = 0;

  /** Counts one more piece of HTML; returns whether all of them together may be filtered. */
  admits(html: string): boolean {
    this.#bytes += byteLength(html);
    if (this.#bytes > HTML_BYTES_MAX) return false;
    this.#tagCount += html.split('<').length - 1;
    this.#elementCount += html.split(/<(?!\/)/).length - 1;
    return !this.isOver;
  }

  get isOver(): boolean {
    return (
      this.#bytes > HTML_BYTES_MAX ||
      this.#tagCount > HTML_TAG_COUNT_MAX ||
      this.#elementCount > HTML_ELEMENT_COUNT_MAX
    );
  }
}

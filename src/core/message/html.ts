/** The HTML of notifications: its filter and its bounds. */

import sanitizeHtml from 'sanitize-html';
import { PUSH_ENCODED_MAX } from '../formats.ts';
import { byteLength } from '../json-input.ts';
import { isUrlToOpen, isWebUrl } from './url.ts';

/** Tags that the filter keeps: specification, "Limits". */
export const ALLOWED_TAGS: readonly string[] = [
  ...['a', 'b', 'big', 'blockquote', 'br', 'cite', 'del', 'dfn', 'div', 'em', 'i', 'img', 'li'],
  ...['p', 's', 'small', 'span', 'strike', 'strong', 'sub', 'sup', 'tt', 'u', 'ul'],
];

/** Elements that are dropped with their content, which browsers do not show as text. */
const DROPPED_WITH_CONTENT = [
  ...['script', 'style', 'textarea', 'option', 'xmp'],
  ...['noscript', 'noembed', 'noframes', 'iframe'],
];

type Attributes = Record<string, string>;

/** Attributes that the filter keeps: specification, "Limits"; null drops the attribute. */
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
  // filterAttributes checks URLs: the library has no list of denied schemes.
  allowedSchemesAppliedToAttributes: [],
  nonTextTags: DROPPED_WITH_CONTENT,
  selfClosing: ['br', 'img'],
  transformTags: {
    '*': (tagName, attributes) => ({ tagName, attribs: filterAttributes(attributes) }),
  },
};

/**
 * Filters HTML: drops tags and attributes outside of the specification's table (the text inside
 * such tags stays), URLs of anchors unless {@link isUrlToOpen}, images unless {@link isWebUrl}.
 * Returns well-formed HTML with `&`, `<` and `>` of the text escaped: `5 > 3` becomes `5 &gt; 3`. A
 * second filtering changes nothing up to {@link PUSH_ENCODED_MAX} characters.
 *
 * The time grows with the square of the number of tags: bound the input with {@link HtmlBudget}.
 *
 * @example sanitizeBody('<b onclick="x">5 > 3</b><script>y</script>') // '<b>5 &gt; 3</b>'
 */
export function sanitizeBody(html: string): string {
  const filtered = sanitizeHtml(html, FILTER);
  // Dropped elements such as svg and select have their own rules of nesting: a second pass reads
  // the rest as the device will. HTML that is too large for any device needs none.
  const isDone = filtered.length > PUSH_ENCODED_MAX || !filtered.includes('<');
  return isDone ? filtered : sanitizeHtml(filtered, FILTER);
}

/** Returns true if filtered HTML shows a visible character or an image. */
export function showsAnything(filtered: string): boolean {
  const text = filtered.replace(/<[^>]*>/g, '').replace(/[\s\p{Cc}\p{Cf}]/gu, '');
  return text !== '' || / src="http/i.test(filtered);
}

/**
 * Bounds of the HTML of one form before filtering, all bodies together: a quarter of a megabyte of
 * nested tags takes the filter seconds. Text and allowed tags beyond a bound encode to more than
 * {@link PUSH_ENCODED_MAX} anyway.
 */
const HTML_BYTES_MAX = 16_384;
const HTML_TAG_COUNT_MAX = 1000;
/** The most opening tags in it, which cost most. */
const HTML_ELEMENT_COUNT_MAX = 512;

/** Measures the HTML of one form before it is filtered. */
export class HtmlBudget {
  #bytes = 0;
  #tagCount = 0;
  #elementCount = 0;

  /** Adds a piece of HTML. Returns true if all pieces together are within the bounds. */
  admits(html: string): boolean {
    this.#bytes += byteLength(html);
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

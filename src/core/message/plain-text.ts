/** Block elements and the line break. */
const BREAKS_LINE = /<(?:br|\/?(?:blockquote|div|li|p|ul))(?: [^>]*)?\/?>/g;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/**
 * Turns filtered HTML into plain text for gateways: blocks and line breaks become line breaks, an
 * image becomes its `alt`, blanks collapse as in browsers.
 *
 * @example plainText('One<br>two &amp; <b>three</b>') // 'One\ntwo & three'
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

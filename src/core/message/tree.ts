/** Makes a tree of a filtered body: tags of the filter and texts. A page draws it without HTML. */

import { ALLOWED_TAGS, sanitizeBody } from './html.ts';

/** A text, or an element with its children; images have no address here. */
export type BodyNode = string | { tag: string; href?: string; alt?: string; children: BodyNode[] };

const TOKEN = /<(\/?)([a-z]+)((?:\s+[a-z]+="[^"]*")*)\s*\/?>/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
};
/** Elements without an end tag. */
const EMPTY_TAGS = ['br', 'img'];

const unescaped = (escaped: string) =>
  escaped.replace(/&(?:amp|lt|gt|quot);/g, (one) => ENTITIES[one] ?? '');

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];
  return found === undefined ? undefined : unescaped(found);
}

/** Filters a body, and returns its tree. Bound the body before: see `HtmlBudget`. */
export function bodyTree(html: string): BodyNode[] {
  const filtered = sanitizeBody(html);
  const root: BodyNode[] = [];
  const open: { tag: string; children: BodyNode[] }[] = [{ tag: '', children: root }];
  const here = () => open.at(-1)?.children ?? root;
  let from = 0;
  for (const { 0: token, 1: slash, 2: tag = '', 3: attributes = '', index } of filtered.matchAll(
    TOKEN,
  )) {
    if (index > from) here().push(unescaped(filtered.slice(from, index)));
    from = index + token.length;
    if (slash === '/') {
      if (open.length > 1 && open.at(-1)?.tag === tag) open.pop();
      continue;
    }
    // The filter allows no other tag.
    if (!ALLOWED_TAGS.includes(tag)) continue;
    const href = attribute(attributes, 'href');
    const alt = attribute(attributes, 'alt');
    const node = {
      tag,
      children: [] as BodyNode[],
      ...(href !== undefined && { href }),
      ...(alt !== undefined && { alt }),
    };
    here().push(node);
    if (!EMPTY_TAGS.includes(tag)) open.push(node);
  }
  if (from < filtered.length) here().push(unescaped(filtered.slice(from)));
  return root;
}

/** A preview of a notification on a phone: a tree from the server, drawn without HTML. */

import type { VNode } from 'preact';
import { h } from 'preact';
import type { Got } from '../../call/table.ts';
import { texts } from '../state.ts';

type Preview = Got<'send.preview'>;
type Node = Preview['texts'][number]['tree'][number];

/** Tags that are drawn; of any other only the content is. */
const DRAWN = [
  'b',
  'big',
  'blockquote',
  'br',
  'cite',
  'del',
  'dfn',
  'div',
  'em',
  'i',
  'li',
  'p',
].concat(['s', 'small', 'span', 'strong', 'sub', 'sup', 'u', 'ul']);

function draw(node: Node): VNode | string {
  if (typeof node === 'string') return node;
  const { alt, children, href, tag } = node;
  if (tag === 'img') return <span class="picture">{alt || texts.compose.picture}</span>;
  const inside = children.map(draw);
  // A link in a preview is disabled.
  if (tag === 'a')
    return (
      <span class="link" title={href}>
        {inside}
      </span>
    );
  return DRAWN.includes(tag) ? h(tag, null, ...inside) : <span>{inside}</span>;
}

export function Phone({ of }: { of: Preview['texts'][number] }) {
  return (
    <article class="phone" dir="auto" aria-label={of.locale || texts.compose.preview}>
      {of.locale !== '' && <bdi class="badge">{of.locale}</bdi>}
      {of.title !== '' && <h3>{of.title}</h3>}
      <div class="said-body">{of.tree.map(draw)}</div>
      {of.link !== '' && <bdi class="hint code">{of.link}</bdi>}
    </article>
  );
}

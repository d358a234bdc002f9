import { expect, test } from 'bun:test';
import { ALLOWED_TAGS } from '../../../src/core/message/html.ts';
import { type BodyNode, bodyTree } from '../../../src/core/message/tree.ts';
import { XSS_VECTORS } from '../../support/xss-vectors.ts';

test('texts and elements, with the links of anchors', () => {
  expect(bodyTree('a <b>b <i>c</i></b> 5 > 3<br>&amp;')).toEqual([
    'a ',
    { tag: 'b', children: ['b ', { tag: 'i', children: ['c'] }] },
    ' 5 > 3',
    { tag: 'br', children: [] },
    '&',
  ]);
  expect(bodyTree('<a href="https://example.com/?a=1&b=2">x</a>')).toEqual([
    { tag: 'a', href: 'https://example.com/?a=1&b=2', children: ['x'] },
  ]);
});

test('an image has its text and no address', () => {
  expect(bodyTree('<img src="https://example.com/a.png" alt="a &quot;b&quot;">')).toEqual([
    { tag: 'img', alt: 'a "b"', children: [] },
  ]);
});

test('of hostile HTML it has allowed tags alone, and no link that runs code', () => {
  const elements = (nodes: readonly BodyNode[]): Exclude<BodyNode, string>[] =>
    nodes.flatMap((node) => (typeof node === 'string' ? [] : [node, ...elements(node.children)]));
  const all = XSS_VECTORS.flatMap((vector) => elements(bodyTree(vector)));
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter(({ tag }) => !ALLOWED_TAGS.includes(tag))).toEqual([]);
  expect(all.filter(({ href = '' }) => /^\s*(?:javascript|data|vbscript):/i.test(href))).toEqual(
    [],
  );
});

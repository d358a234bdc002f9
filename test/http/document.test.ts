/** The parts of the documents: escaping, components, and the meaning of answers. */

import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { html } from '../../src/http/document/html.ts';
import { SchemaBook } from '../../src/http/document/json-schema.ts';
import { openApiDocument } from '../../src/http/document/openapi.ts';

test('a template escapes every sign that ends a text or an attribute', () => {
  const text = `<a href='x' title="y">&`;
  const { text: escaped } = html`<p>${text}</p>${html`<b>`}`;
  expect(escaped).not.toMatch(/["']|<a|&(?!#)/);
  expect(escaped).toEndWith('</p><b>');
});

test('two schemas of one title are refused, and one that is used twice is not', () => {
  const book = new SchemaBook();
  const schema = Type.Object({ id: Type.Integer() }, { title: 'Thing' });
  expect(book.refer(schema)).toEqual(book.refer(schema));
  const other = Type.Object({ name: Type.String() }, { title: 'Thing' });
  expect(() => book.refer(other)).toThrow('two schemas are called Thing');
});

test('a POST answers `Unknown error` to a body that does not fit, and a GET has none', () => {
  const { paths } = openApiDocument();
  for (const [path, { get, post }] of Object.entries(paths)) {
    const { responses } = get ?? post ?? {};
    const examples = responses?.[200].content['application/json'].examples ?? {};
    const meaning = examples['unknown_error']?.description ?? '';
    expect({ path, isForBody: meaning.includes('the body does not fit') }).toEqual({
      path,
      isForBody: post !== undefined,
    });
  }
});

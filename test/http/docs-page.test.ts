/** The documentation page: complete, closed to the outside, and escaped. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { renderDocsPage } from '../../src/http/document/docs-page.ts';
import { SEARCH } from '../../src/http/document/docs-search.ts';
import type { OpenApiDocument } from '../../src/http/document/openapi.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { calls, document } from '../support/openapi.ts';

interface Seen {
  elements: { tag: string; attributes: [string, string][] }[];
  /** Text of the page by the id of the article or section that it is in. */
  texts: Map<string, string>;
  style: string;
}

/** What a parser sees of a page. */
function parse(page: string): Seen {
  const seen: Seen = { elements: [], texts: new Map(), style: '' };
  const within: string[] = [];
  let isStyle = false;
  new HTMLRewriter()
    .on('*', {
      element(element) {
        const { tagName: tag } = element;
        const attributes = [...element.attributes] as [string, string][];
        seen.elements.push({ tag, attributes });
        if (tag === 'style') isStyle = true;
        if (tag !== 'article' && tag !== 'section' && tag !== 'style') return;
        if (tag !== 'style') within.push(element.getAttribute('id') ?? '');
        element.onEndTag(() => {
          if (tag === 'style') isStyle = false;
          else within.pop();
        });
      },
    })
    .onDocument({
      text({ text }) {
        if (isStyle) seen.style += text;
        for (const id of within) seen.texts.set(id, (seen.texts.get(id) ?? '') + text);
      },
    })
    .transform(page);
  for (const [id, text] of seen.texts) seen.texts.set(id, unescaped(text));
  return seen;
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

let app: TestApp;
let response: Response;
let page: string;
let seen: Seen;
beforeAll(async () => {
  app = await startTestApp();
  response = await fetch(`${app.url}/docs`);
  page = await response.text();
  seen = parse(page);
});
afterAll(() => app.close());

describe.each(calls)('$path', ({ method, operation, path }) => {
  const text = () => seen.texts.get(operation.operationId) ?? '';

  test('has an article with method, summary and description', () => {
    expect(text()).toContain(`${method} ${path}`);
    expect(text()).toContain(operation.summary);
    const [first = ''] = operation.description.split('\n\n');
    expect(text()).toContain(first.replaceAll('`', ''));
  });

  test('has every parameter, message and field of a success', () => {
    const media = operation.responses[200].content['application/json'];
    for (const { description, name } of operation.parameters) {
      expect(text()).toContain(name);
      expect(text()).toContain(description.replaceAll('`', ''));
    }
    for (const { value } of Object.values(media.examples)) {
      const { msg } = value as { msg: string };
      expect(text()).toContain(msg);
      expect(seen.texts.get('messages')).toContain(msg);
    }
    for (const name of Object.keys(media.examples['ok']?.value as object)) {
      expect(text()).toContain(name);
    }
  });

  test('has a call to try', () => {
    expect(text()).toContain(`curl "$API${path}`);
    const examples = operation.requestBody?.content['application/json'].examples ?? {};
    for (const { value } of Object.values(examples))
      expect(text()).toContain(JSON.stringify(value));
  });
});

test('says nothing that it does not know', () => {
  expect(page).not.toMatch(/undefined|\[object|NaN/);
});

test('has every object with its fields', () => {
  const objects = Object.entries(document.components.schemas);
  expect(objects.length).toBeGreaterThan(10);
  for (const [name, schema] of objects) {
    const text = seen.texts.get(`object-${name}`) ?? '';
    expect(text).toStartWith(name);
    for (const field of Object.keys((schema['properties'] ?? {}) as object)) {
      expect(text).toContain(field);
    }
  }
});

test('every link leads somewhere on the page, or to the document', () => {
  const attributes = seen.elements.flatMap((element) => element.attributes);
  const ids = attributes.filter(([name]) => name === 'id').map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const links = attributes.filter(([name]) => name === 'href').map(([, href]) => href);
  expect(links.length).toBeGreaterThan(100);
  const strange = links.filter((href) => !ids.includes(href.slice(1)) && href !== '/openapi.json');
  expect(links.filter((href) => /^#message-.*[A-Z]/.test(href))).toEqual([]);
  expect(strange).toEqual([]);
});

test('asks for nothing from elsewhere, and runs its search alone', () => {
  const tags = new Set(seen.elements.map(({ tag }) => tag));
  const active = ['link', 'img', 'iframe', 'object', 'embed', 'base', 'form'];
  expect(active.filter((tag) => tags.has(tag))).toEqual([]);
  const scripts = seen.elements.filter(({ tag }) => tag === 'script');
  expect(scripts).toEqual([{ tag: 'script', attributes: [] }]);
  expect(page).toContain(`<script>${SEARCH}</script>`);
  const attributes = seen.elements.flatMap((element) => element.attributes);
  expect(attributes.filter(([name]) => /^on|^style$|^src/.test(name))).toEqual([]);
  expect(attributes.filter(([name]) => name === 'http-equiv')).toEqual([]);
  expect(seen.style).not.toMatch(/url\(|@import|@font-face/);
});

test('its policy allows its own style and search, and nothing else', () => {
  const hashOf = (text: string) =>
    `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`;
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src ${hashOf(seen.style)}; script-src ${hashOf(SEARCH)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test('escapes whatever the document holds', () => {
  const hostile = `</code></style><script>alert(1)</script>"'&amp;`;
  const poisoned = JSON.parse(JSON.stringify(document), (key, value) => {
    // Names that are references stay what they are.
    const isName = key === '$ref' || key === 'in' || key === 'type' || key === 'name';
    return typeof value === 'string' && !isName ? value + hostile : value;
  }) as OpenApiDocument;
  const named = JSON.parse(
    JSON.stringify(document).replaceAll('install_limit', '<script>install_limit'),
  ) as OpenApiDocument;
  for (const dangerous of [poisoned, named]) {
    const rendered = renderDocsPage(dangerous);
    const tags = parse(rendered).elements.map(({ tag }) => tag);
    expect(tags.filter((tag) => tag === 'script')).toHaveLength(1);
    expect(rendered).toContain('&#60;script&#62;');
    expect(rendered.match(/<script/g)).toHaveLength(1);
  }
});

/** Runs the search on the articles of the page; a browser's part is played by plain objects. */
function searchedFor(words: string): string[] {
  const ids = seen.elements
    .filter(({ tag }) => tag === 'article')
    .map(({ attributes }) => new Map(attributes).get('id') ?? '');
  const articles = ids.map((id) => ({ id, textContent: seen.texts.get(id), hidden: false }));
  const links = ids.map((id) => ({ firstChild: { getAttribute: () => `#${id}` }, hidden: false }));
  const sections = [{ hidden: false, querySelector: () => articles.find(({ hidden }) => !hidden) }];
  const of: Record<string, unknown[]> = { 'main article': articles, 'nav li li': links };
  let ring = () => {};
  const field = {
    value: '',
    parentElement: { hidden: true },
    addEventListener: (_: string, listener: () => void) => {
      ring = listener;
    },
  };
  const found = { textContent: '' };
  const fake = {
    getElementById: (id: string) => (id === 'search' ? field : found),
    querySelectorAll: (selector: string) => of[selector] ?? sections,
  };
  new Function('document', 'addEventListener', SEARCH)(fake, () => {});
  expect({ shown: !field.parentElement.hidden, ...found }).toEqual({
    shown: true,
    textContent: '',
  });
  field.value = words;
  ring();
  const shown = articles.filter(({ hidden }) => !hidden).map(({ id }) => id);
  expect(links.map(({ hidden }) => hidden)).toEqual(articles.map(({ hidden }) => hidden));
  expect(sections[0]?.hidden).toBe(shown.length === 0);
  expect(found.textContent).toBe(`${shown.length} found`);
  return shown;
}

test('the search shows the calls that have every word', () => {
  expect(searchedFor(' COOL_DOWN_HOURS  required ')).toEqual(['addInstall', 'updateInstall']);
  expect(searchedFor('no-such-word')).toEqual([]);
});

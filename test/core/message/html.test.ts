import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  ALLOWED_TAGS,
  HtmlBudget,
  sanitizeBody,
  showsAnything,
} from '../../../src/core/message/html.ts';
import { XSS_VECTORS } from '../../support/xss-vectors.ts';

// The specification's limits table once more, so that a slip in the source does not go unnoticed.
const SPEC_TAGS =
  'a b big blockquote br cite del dfn div em i img li p s small span strike strong sub sup tt u ul';
const VOID_TAGS = ['br', 'img'];
const NEVER = /^(javascript|vbscript|livescript|mocha|data|file|blob|filesystem|view-source|jar):/i;

/**
 * Reads filtered HTML by a grammar so narrow that no parser can see anything else in it: text
 * without `<` and `>`, and tags with quoted attributes, all known, all closed in order.
 */
function expectHarmless(html: string): void {
  const open: string[] = [];
  let rest = html;
  while (rest !== '') {
    const token = /^(?:([^<>]+)|<\/([a-z]+)>|<([a-z]+)((?: [a-z]+="[^"<>]*")*)(?: \/)?>)/.exec(
      rest,
    );
    if (!token) throw new Error(`not the expected grammar: ${rest.slice(0, 60)} in ${html}`);
    const [whole, , closed, opened, attributes = ''] = token;
    rest = rest.slice(whole.length);
    if (closed !== undefined) expect(open.pop()).toBe(closed);
    if (opened === undefined) continue;
    expect(SPEC_TAGS.split(' ')).toContain(opened);
    if (!VOID_TAGS.includes(opened)) open.push(opened);
    for (const [, name = '', value = ''] of attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)) {
      expectHarmlessAttribute(name, decode(value));
    }
  }
  expect(open).toEqual([]);
}

function expectHarmlessAttribute(name: string, value: string): void {
  expect(['href', 'src', 'title', 'alt', 'target']).toContain(name);
  // Browsers drop these before they look for the scheme.
  const address = value.replace(/[\0-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029]/g, '');
  if (name === 'src') expect(address).toMatch(/^https?:\/\/[^/\\]/i);
  if (name === 'href') {
    expect(address).toMatch(/^[a-z][a-z0-9+.-]+:./i);
    expect(address).not.toMatch(NEVER);
  }
  if (name === 'target') expect(value).toBe('_blank');
}

function decode(value: string): string {
  return value
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** The same question to an independent HTML parser, the one in Bun. */
function expectHarmlessToParser(html: string): void {
  const seen: string[] = [];
  new HTMLRewriter()
    .on('*', {
      element(element) {
        seen.push(element.tagName);
        for (const [name, value] of element.attributes)
          expectHarmlessAttribute(name, decode(value));
      },
      comments(comment) {
        seen.push(`comment ${comment.text}`);
      },
    })
    .transform(html);
  expect(seen.filter((tag) => !SPEC_TAGS.split(' ').includes(tag))).toEqual([]);
}

describe('HTML filter', () => {
  test('the corpus is large, and each vector in it is a different one', () => {
    expect(new Set(XSS_VECTORS).size).toBe(XSS_VECTORS.length);
    expect(XSS_VECTORS.length).toBeGreaterThanOrEqual(60);
  });

  test.each(XSS_VECTORS.map((vector) => [vector]))('harmless: %s', (vector) => {
    for (const input of [
      vector,
      `<b>${vector}</b>`,
      `<p title="${vector}">x</p>`,
      vector + vector,
    ]) {
      const html = sanitizeBody(input);
      expectHarmless(html);
      expectHarmlessToParser(html);
      expect(sanitizeBody(html)).toBe(html);
    }
  });

  test('whatever is put together from pieces of HTML comes out harmless and stays as it is', () => {
    const piece = fc.oneof(
      fc.constantFrom(...XSS_VECTORS),
      fc.constantFrom('<', '>', '"', "'", '`', '&', '/', '=', ' ', '<!--', '-->', '\0', '\n', '&#'),
      fc.constantFrom('<a href="', '<img src=', 'javascript:', 'https://a.example/', 'onclick='),
      fc.constantFrom(...ALLOWED_TAGS.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag} `])),
      fc.constantFrom('<svg>', '</svg>', '<style>', '</style>', '<table>', '<iframe>', '<select>'),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const html = sanitizeBody(pieces.join(''));
        expectHarmless(html);
        expectHarmlessToParser(html);
        expect(sanitizeBody(html)).toBe(html);
      }),
      { numRuns: 2000 },
    );
  });

  test('the allowed tags are those of the specification', () => {
    expect(ALLOWED_TAGS.join(' ')).toBe(SPEC_TAGS);
  });

  test.each(SPEC_TAGS.split(' ').map((tag) => [tag]))('<%s> survives', (tag) => {
    const html = VOID_TAGS.includes(tag) ? `x<${tag} />y` : `x<${tag}>y</${tag}>z`;
    expect(sanitizeBody(html)).toBe(html);
    expect(sanitizeBody(html.toUpperCase()).toLowerCase()).toBe(html);
  });

  test.each(['h1', 'ol', 'pre', 'code', 'font', 'center', 'table', 'hr', 'video', 'form', 'ins'])(
    '<%s> goes, its text stays',
    (tag) => {
      expect(sanitizeBody(`a<${tag}>b</${tag}>c`)).toBe('abc');
    },
  );

  test.each([
    ['<a href="https://a.example/?x=1&amp;y=2" title="t" target="_blank">x</a>'],
    ['<a href="http://a.example">x</a>'],
    ['<a href="tg://resolve?domain=x">x</a>'],
    ['<a href="happ://add/https://a.example/sub">x</a>'],
    ['<a href="mailto:help@a.example">x</a>'],
    ['<a href="https://пример.рф/путь">x</a>'],
    ['<img src="https://a.example/x.png" title="t" alt="" />'],
    ['<p title="a &quot;b&quot; &lt;c&gt;">x</p>'],
  ])('stays as it is: %s', (html) => {
    expect(sanitizeBody(html)).toBe(html);
  });

  test.each([
    ['<a href="intent://x#Intent;component=a/b;end">x</a>', '<a>x</a>'],
    ['<a href="tg://x#Intent;end">x</a><a href="android-app://a">y</a>', '<a>x</a><a>y</a>'],
    ['<a href="/relative" class="x" id="y" rel="z" style="color:red">x</a>', '<a>x</a>'],
    ['<a href="example.com:8443/pay">x</a>', '<a>x</a>'],
    ['<a href="C:\\windows">x</a>', '<a>x</a>'],
    ['<a href=" https://a.example ">x</a>', '<a href="https://a.example">x</a>'],
    ['<a target="_top">x</a><a target=_blank>y</a>', '<a>x</a><a target="_blank">y</a>'],
    ['<img src="tg://x" alt="a">', '<img alt="a" />'],
    ['<img src="/x.png" width=1>', '<img />'],
    ['<a>1<select><a>2</a></select>', '<a>1</a><a>2</a>'],
    ['<a>1<svg><a>2</a></svg>3</a>', '<a>1</a><a>2</a>3'],
    ['a<script>b</script><style>c</style>d<iframe>e</iframe>', 'ad'],
  ])('%s becomes %s', (html, filtered) => {
    expect(sanitizeBody(html)).toBe(filtered);
  });

  test.each([
    ['5 > 3 & "x"', '5 &gt; 3 &amp; "x"'],
    ['I <3 you', 'I &lt;3 you'],
    ["it's «так»\n\tи 👩‍👩‍👧 ок", "it's «так»\n\tи 👩‍👩‍👧 ок"],
    ['&lt;b&gt; &copy;&nbsp;&#128512;', '&lt;b&gt; ©\u00a0😀'],
  ])('plain text %j becomes %j', (text, filtered) => {
    expect(sanitizeBody(text)).toBe(filtered);
  });

  test('text without markup says the same afterwards', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        // `<` and `&` may begin markup; what does not is only escaped.
        const plain = text.replace(/[<&]/g, '');
        expect(decode(sanitizeBody(plain))).toBe(plain);
      }),
    );
  });
});

test.each([
  ['<b>a</b>', true],
  ['<img src="https://example.com/a.png" />', true],
  ['<img alt="a" />', false],
  ['<b> \u200b</b><br />', false],
])('%j shows something: %p', (filtered, isShown) => {
  expect(showsAnything(filtered)).toBe(isShown);
});

describe('the bounds of HTML', () => {
  test.each([
    ['characters', 'a', 16_384],
    ['tags', '</b>', 1_000],
    ['elements', '<b>', 512],
  ])('are %s', (_, piece, countMax) => {
    const budget = new HtmlBudget();
    expect(budget.admits(piece.repeat(countMax - 1))).toBe(true);
    expect([budget.admits(piece), budget.isOver]).toEqual([true, false]);
    expect([budget.admits(piece), budget.isOver]).toEqual([false, true]);
  });
});

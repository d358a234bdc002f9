/** What a browser loads at first: the page and what it names, in each language. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type ConsoleSite, startConsoleSite } from '../support/console-page.ts';

const BODIES_MAX = 46 * 1_024;
const WIRE_MAX = 60 * 1_024;

let site: ConsoleSite;
beforeAll(async () => {
  site = await startConsoleSite();
});
afterAll(() => site.close());

/** The bytes of a body as it is sent, and of the head of its answer. */
async function load(path: string, language: string) {
  const headers = { 'accept-language': language, 'accept-encoding': 'gzip, deflate, br, zstd' };
  const answer = await fetch(`${site.url}${path}`, { headers, decompress: false });
  const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}\r\n`.length);
  const head = lines.reduce((sum, length) => sum + length, 'HTTP/1.1 200 OK\r\n\r\n'.length);
  const bytes = await answer.bytes();
  return { answer, bytes, head };
}

test.each(['en', 'ru', 'zh', 'fa'])(
  '46 KiB of bodies and 60 KiB with heads: %s',
  async (language) => {
    const page = await load('/console', language);
    const html = new TextDecoder().decode(page.bytes);
    const named = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
      ([, path]) => path ?? '',
    );
    const files = await Promise.all([...new Set(named)].map((path) => load(path, language)));
    expect(files.map(({ answer }) => answer.headers.get('content-encoding'))).toEqual(
      files.map(() => 'br'),
    );
    const all = [page, ...files];
    const bodies = all.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const wire = all.reduce((sum, { bytes, head }) => sum + bytes.length + head, 0);
    expect(bodies).toBeGreaterThan(30_000);
    expect(bodies).toBeLessThanOrEqual(BODIES_MAX);
    expect(wire).toBeLessThanOrEqual(WIRE_MAX);
  },
);

test('a program that takes no Brotli gets the files as they are', async () => {
  const { bytes } = await load('/console', 'en');
  const path = /src="(\/console\/[^"]+\.js)"/.exec(new TextDecoder().decode(bytes))?.[1];
  const plain = await fetch(`${site.url}${path}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(await plain.text()).toContain('import');
});

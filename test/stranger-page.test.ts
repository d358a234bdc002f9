/** The page for strangers: a file, or what an address answers, fetched by the clock alone. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { makeLog } from '../src/base/log.ts';
import { Outgoing } from '../src/outgoing/outgoing.ts';
import { LiveStrangerPage } from '../src/parts/live-stranger-page.ts';

const settings = { strangers: 'quiet' as 'answer' | 'quiet', strangerPage: '' };
const lines: string[] = [];
const signal = new AbortController().signal;
let site: Bun.Server<unknown>;
let asked: { method: string; url: string; names: string[] }[];
let answerNext: () => Response;
let outgoing: Outgoing;
let page: LiveStrangerPage;

beforeEach(() => {
  asked = [];
  lines.length = 0;
  settings.strangers = 'quiet';
  answerNext = () => new Response('hello', { status: 200, headers: HEADERS });
  site = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { headers, method, url } = request;
      asked.push({ method, url, names: [...headers.keys()].sort() });
      return answerNext();
    },
  });
  const reach = { outgoingAllow: [], outgoingAllowHttp: false, outgoingOriginRate: 10 };
  const files = { ca: null, logins: new Map() };
  outgoing = new Outgoing({ settings: reach as never, clock: systemClock, files });
  const log = makeLog({ logFormat: 'json', logLevel: 'info' }, systemClock.nowMs, (line) =>
    lines.push(line),
  );
  page = new LiveStrangerPage({ settings, outgoing, log });
});

afterEach(async () => {
  outgoing.close();
  await site.stop(true);
});

const HEADERS = {
  'content-type': 'text/html',
  server: 'nginx/1.24.0',
  'set-cookie': 'a=b',
  'x-powered-by': 'own',
};

async function take(source: string): Promise<void> {
  settings.strangerPage = source;
  page.prepare(settings)();
  await page.refresh(signal);
}

const shown = () => {
  const now = page.current();
  return now && { ...now, body: new TextDecoder().decode(now.body) };
};

const failures = () => lines.filter((line) => line.includes('stranger_page_failed')).length;

test('an address: its status, body and the headers of a page, asked as nobody in particular', async () => {
  await take(`${site.url.origin}/welcome?a=1`);
  const headers = { 'content-type': 'text/html', server: 'nginx/1.24.0' };
  expect(shown()).toEqual({ status: 200, body: 'hello', headers });
  expect(asked.map(({ method, url }) => [method, url])).toEqual([
    ['GET', `${site.url.origin}/welcome?a=1`],
  ]);
  expect(asked[0]?.names).toEqual(['accept-encoding', 'connection', 'host']);
});

test('a redirect is passed on, not followed', async () => {
  const to = 'https://www.example.org/';
  answerNext = () => new Response(null, { status: 302, headers: { location: to } });
  await take(`${site.url.origin}/`);
  expect(shown()).toMatchObject({ status: 302, headers: { location: to } });
  expect(asked).toHaveLength(1);
});

test.each<[string, () => Response]>([
  ['too large', () => new Response('a'.repeat(128 * 1024 + 1))],
  ['compressed', () => new Response('a', { headers: { 'content-encoding': 'gzip' } })],
  ['without a body', () => new Response(null, { status: 204 })],
])(
  'an answer that is %s is none; the log says so once, and a good one counts again',
  async (_, bad) => {
    await take(site.url.href);
    const good = answerNext;
    answerNext = bad;
    await page.refresh(signal);
    await page.refresh(signal);
    expect([shown(), failures()]).toEqual([null, 1]);
    answerNext = good;
    await page.refresh(signal);
    expect(shown()?.body).toBe('hello');
  },
);

test('an address that does not answer gives no page', async () => {
  const gone = site.url.href;
  await site.stop(true);
  await take(gone);
  expect([shown(), failures()]).toEqual([null, 1]);
});

test('where strangers are answered, no address is asked', async () => {
  settings.strangers = 'answer';
  await take(site.url.href);
  expect([shown(), asked.length]).toEqual([null, 0]);
});

test('a reload keeps the page of the same address, and drops that of another', async () => {
  await take(site.url.href);
  page.prepare(settings)();
  expect(shown()?.body).toBe('hello');
  settings.strangerPage = `${site.url.href}other`;
  page.prepare(settings)();
  expect(shown()).toBeNull();
});

test('a file: its bytes with 404 and the type of its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-'));
  const file = join(folder, 'page.html');
  writeFileSync(file, '<p>ä</p>');
  await take(file);
  expect(shown()).toEqual({
    status: 404,
    body: '<p>ä</p>',
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
  writeFileSync(file, 'a'.repeat(128 * 1024 + 1));
  expect(() => page.prepare(settings)).toThrow('server.stranger_page');
  expect(() => page.prepare({ ...settings, strangerPage: join(folder, 'none') })).toThrow(
    'server.stranger_page: cannot read',
  );
  expect(shown()?.status).toBe(404);
});

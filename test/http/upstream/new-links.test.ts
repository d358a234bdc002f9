/** A panel that serves made-up keys gets no new links: each guess would make one. */

import { expect, test } from 'bun:test';
import { servesStrangers } from '../../../src/http/upstream/new-links.ts';
import {
  answer,
  behaveWell,
  MADE_UP,
  PANEL_HEADERS,
  type PanelCall,
  serveAll,
} from '../../support/panel.ts';
import { type Fronted, HOST, KEY, upstreamTo, useFronted } from '../../support/upstream.ts';

const start = useFronted();

const front = (behave: (asked: PanelCall) => Promise<void>, more = {}) =>
  start(behave, more, { servesStrangers });

const strangersAsked = ({ panel }: Fronted) =>
  panel.calls.filter(({ target }) => MADE_UP.test(target)).length;

test('it is asked before the first link of an hour, and never for a link that exists', async () => {
  const at = await front(behaveWell);
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  for (const hwid of ['a', 'b']) await at.get(`/sub/${KEY}`, hwid);
  expect((await at.get('/sub/another-key-0001', 'a')).status).toBe(200);
  expect([strangersAsked(at), (await at.links()).length]).toEqual([1, 2]);
  at.app.clock.advance(3_600_000);
  await at.get('/sub/another-key-0001', 'b');
  expect(strangersAsked(at)).toBe(1);
  expect((await at.get('/sub/another-key-0002', 'a')).status).toBe(200);
  expect(strangersAsked(at)).toBe(2);
});

test('while it serves them, no link is made; links that exist go on, and the doctor knows', async () => {
  let behave = behaveWell;
  const at = await front((asked) => behave(asked));
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  behave = serveAll;
  at.app.clock.advance(3_600_000);
  for (const key of ['guess-0000000001', 'guess-0000000002']) {
    expect((await at.get(`/sub/${key}`, 'a')).status).toBe(404);
  }
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  expect((await at.get(`/sub/${KEY}`, 'b')).status).toBe(200);
  expect(await at.links()).toHaveLength(1);
  expect(at.app.logLines.filter((line) => line.includes('serves_strangers'))).toHaveLength(1);
  await at.app.core.store.saveFigures();
  const seen = await at.app.core.store.listSightings();
  expect(seen.map(({ host, kind }) => [host, kind])).toEqual([[HOST, 'stranger_served']]);
  behave = behaveWell;
  at.app.clock.advance(3_600_000);
  expect((await at.get('/sub/guess-0000000001', 'a')).status).toBe(200);
});

test.each([
  ['a subscription', answer(200, 'vless://a@b.example:1\n', PANEL_HEADERS), true, true],
  ['words', answer(200, 'hello'), true, false],
  ['a page', answer(200, '<html>', { 'Content-Type': 'text/html' }), false, false],
  ['204', answer(204), false, false],
  ['404', answer(404), false, false],
  ['500', answer(500), false, false],
])('what counts as serving: %s', async (_, bytes, isOfNone, isOfFive) => {
  const at = await front(({ send }) => send(bytes));
  const upstream = upstreamTo(at.panel.url, at.own.code);
  expect(await servesStrangers(upstream)).toBe(isOfNone);
  expect(await servesStrangers({ ...upstream, panel: '3x-ui' })).toBe(isOfFive);
});

test('a panel that is away stops nothing', async () => {
  expect(await servesStrangers(upstreamTo('http://127.0.0.1:1', 'EXAMPLE1'))).toBeNull();
});

test('a panel that gives strangers no answer is asked again a minute later', async () => {
  let behave = async (asked: PanelCall) => {
    if (!MADE_UP.test(asked.target)) await behaveWell(asked);
  };
  const at = await front((asked) => behave(asked), { timeoutMs: 500 });
  expect((await at.get('/sub/guess-0000000001', 'a')).status).toBe(200);
  behave = serveAll;
  expect((await at.get('/sub/guess-0000000002', 'a')).status).toBe(200);
  expect(strangersAsked(at)).toBe(1);
  at.app.clock.advance(60_000);
  expect((await at.get('/sub/guess-0000000003', 'a')).status).toBe(404);
  expect([strangersAsked(at), (await at.links()).length]).toEqual([2, 2]);
});

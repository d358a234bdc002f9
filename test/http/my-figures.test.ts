/** The end and the traffic on the page of users: for whom, and as the rows say. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { myUrlOfLink } from '../../src/core/my.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { answer, SUBSCRIPTION } from '../support/panel.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const DAY_MS = 86_400_000;
const GB = 1024 ** 3;

let at: Fronted;
let code: string;
let installId: number;
beforeEach(async () => {
  // A panel that says no figures: the proxy would keep them.
  at = await startFronted(
    ({ send }) => send(answer(200, SUBSCRIPTION, { 'Content-Type': 'text/plain' })),
    { defaultLimit: 2 },
    {
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
      myUrl: 'https://gatepost.example.org',
    },
  );
  await setUp({ my: 1, subscriptionFigures: 1 });
  await at.get(`/sub/${KEY}`, 'one');
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(KEY));
  if (link === undefined) throw new Error('the proxy made no link');
  ({ id: installId, installCode: code } = link);
  await keep({ endsAtMs: at.app.clock.nowMs() + 2.5 * DAY_MS });
});
afterEach(() => at.stop());

const setUp = (change: Parameters<Fronted['app']['core']['store']['updateProvider']>[1]) =>
  at.app.core.store.updateProvider(at.own.code, change, ACT);

const keep = (figures: { endsAtMs?: number | null; usedBytes?: number; totalBytes?: number }) =>
  at.app.core.store.keepSubscriptionFigures(
    installId,
    { endsAtMs: null, usedBytes: null, totalBytes: null, ...figures },
    'proxy',
    at.app.clock.nowMs(),
  );

/** Opens the page as a browser does. */
async function open(path: string, language = 'en'): Promise<string> {
  const { pathname, search } = new URL(path, `http://${HOST}`);
  const page = await at.get(pathname + search, null, { 'accept-language': language });
  expect(page.status).toBe(200);
  return Buffer.from(page.body, 'latin1')
    .toString('utf8')
    .replace(/[\u00a0\u202f]/g, ' ');
}

const byAddress = () => `/my?link=${HOST}/sub/${KEY}`;
const LEFT = '3 days left';

test('the address of the subscription shows the days that are left, a code alone none', async () => {
  const shown = await open(byAddress());
  expect(shown).toContain(LEFT);
  expect(shown).toContain('The subscription ends on');
  for (const path of [`/my?link=${code}`, `/my?link=${code}&sub=1.aaaaaaaaaaaaaaaa`]) {
    const page = await open(path);
    expect(page).not.toContain('left');
    expect(page).not.toContain('ends on');
  }
});

test('a typed address shows them too, and they stay on further pages for a day', async () => {
  const post = (form: Record<string, string>) =>
    fetch(`${at.app.url}/my`, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
    });
  const opened = await post({ link: `https://${HOST}/sub/${KEY}` });
  const location = opened.headers.get('location') ?? '';
  expect(location).toStartWith(`/my?link=${code}&sub=`);
  const page = await open(location);
  expect(page).toContain(LEFT);
  const [, sub = ''] = /name="sub" value="([^"]+)"/.exec(page) ?? [];
  const [, free = ''] = /name="free" value="([^"]+)"/.exec(page) ?? [];
  const freed = await post({ link: code, free, sub });
  expect(await open(freed.headers.get('location') ?? '')).toContain(LEFT);
  at.app.clock.advance(DAY_MS + 120_000);
  expect(await open(location)).not.toContain('left');
  expect((await post({ link: code })).headers.get('location')).toBe(`/my?link=${code}`);
});

test('a page that a proof opened makes no later proof', async () => {
  const button = (await at.get(`/sub/${KEY}?installid=${code}`, 'one')).headers.get(
    'profile-web-page-url',
  );
  at.app.clock.advance(DAY_MS / 2);
  const page = await open(button ?? '');
  expect(page).toContain(LEFT.replace('3', '2'));
  const [, sub = ''] = /name="sub" value="([^"]+)"/.exec(page) ?? [];
  at.app.clock.advance(DAY_MS / 2 + 120_000);
  expect(await open(`/my?link=${code}&sub=${sub}`)).not.toContain('left');
});

test('apps without a HWID share a slot, so their button shows none', async () => {
  await setUp({ withoutHwid: 'count' });
  const fetched = await at.get(`/sub/${KEY}?installid=${code}`, null);
  expect(fetched.status).toBe(200);
  expect(fetched.headers.get('profile-web-page-url')).toBe(`http://${HOST}/my?link=${code}`);
});

test('the button of an admitted app shows them, that of a refused device does not', async () => {
  await at.get(`/sub/${KEY}`, 'two');
  const fetched = await at.get(`/sub/${KEY}?installid=${code}`, 'one');
  const button = fetched.headers.get('profile-web-page-url') ?? '';
  expect(button).toStartWith(`http://${HOST}/my?link=${code}&sub=`);
  expect(await open(button)).toContain(LEFT);
  const refused = await at.get(`/sub/${KEY}?installid=${code}`, 'stranger');
  const address = refused.headers.get('profile-web-page-url') ?? '';
  expect(address).toContain('this=');
  expect(await open(address)).not.toContain('left');
});

test('a provider that keeps no figures has the page and the button of before', async () => {
  await setUp({ subscriptionFigures: 0 });
  const fetched = await at.get(`/sub/${KEY}?installid=${code}`, 'one');
  expect(fetched.headers.get('profile-web-page-url')).toBe(`http://${HOST}/my?link=${code}`);
  const page = await open(byAddress());
  expect(page).not.toContain('left');
  expect(page).not.toContain('name="sub"');
});

test('the button of a link without figures costs a fetch no read', () => {
  const findMy = () => {
    throw new Error('the link was read');
  };
  const core = { limits: at.app.core.limits, store: { ...at.app.core.store, findMy } };
  const how = { plain: () => '/my?link=1', isByCode: true, showsFigures: false, nowMs: 0 };
  const link = { installId, providerCode: at.own.code };
  expect(myUrlOfLink(core, { myPath: '/my' }, 'http://a', link, how)).toBe('/my?link=1');
});

test('traffic is shown where the provider wants it, and not when it is two days old', async () => {
  at.app.clock.advance(3_600_000);
  await keep({ endsAtMs: null, usedBytes: 3.5 * GB, totalBytes: 10 * GB });
  expect(await open(byAddress())).not.toContain(' GB');
  await setUp({ myTraffic: 1 });
  expect(await open(byAddress())).toContain('Traffic: 3.5 GB of 10 GB');
  at.app.clock.advance(3_600_000);
  await keep({ usedBytes: GB });
  expect(await open(byAddress())).toContain('Traffic used: 1 GB');
  at.app.clock.advance(2 * DAY_MS);
  expect(await open(byAddress())).not.toContain(' GB');
});

test('the way to pay is beside the days, also after the end, and nowhere else', async () => {
  await setUp({ webPageUrl: 'https://pay.example/?a=1&b="' });
  const page = await open(byAddress());
  expect(page).toContain('href="https://pay.example/?a=1&#38;b=&#34;"');
  expect(page).toContain('Renew the subscription');
  expect(await open(`/my?link=${code}`)).not.toContain('pay.example');
  at.app.clock.advance(3 * DAY_MS);
  const ended = await open(byAddress());
  expect(ended).toContain('The subscription ended on');
  expect(ended).toContain('Renew the subscription');
});

test.each([
  ['ru', 'Осталось: 3 дня', 'Подписка действует до'],
  ['zh-CN', '剩余 3天', '到期'],
  ['fa', '۳ روز مانده', 'فعال است'],
])('speaks %p', async (language, left, ending) => {
  const page = await open(byAddress(), language);
  expect(page).toContain(left);
  expect(page).toContain(ending);
});

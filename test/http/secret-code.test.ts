/**
 * Codes of links that are keys of subscriptions (`codes_as_keys`): who sees them, and what stands
 * in addresses of the page of users in their place.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { linkRefused } from '../../src/core/event/happenings.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { call } from '../support/app.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { operatorBrowser } from '../support/operator.ts';
import { type Fronted, HOST, startFronted } from '../support/upstream.ts';

const CODE = 'SecretCode01';
const FILTER = { search: null, status: null, isFull: false };
const PAGE = { filter: FILTER, isOldest: false, beyondId: null, countMax: 10 };

let at: Fronted;
let operator: ConsoleBrowser;
beforeAll(async () => {
  at = await startFronted(
    undefined,
    { codesAsKeys: true, panel: '3x-ui', defaultLimit: 3, browsers: 'refuse' },
    { myPath: '/my', myUrl: 'https://my.example.com' },
  );
  // In the appliance both are the settings.
  Object.assign(at.app.core.limits, { gateUpstreams: at.app.settings.gateUpstreams });
  operator = await operatorBrowser(at.app);
  await call(at.app, '/api/add-install', at.own, { install_code: CODE, install_limit: 1 });
  await call(at.app, '/api/policy', at.own, { page: 1 });
  await at.get(`/sub/${CODE}`, 'phone');
  // The overview names the links that refused most.
  await at.get(`/sub/${CODE}`, 'another');
  await at.app.core.store.saveFigures();
});
afterAll(() => at.stop());

async function memberAs(role: 'sender' | 'support' | 'reader'): Promise<ConsoleBrowser> {
  const { secret } = await operator.get('staff.invite', { at: at.own.code, role });
  const browser = new ConsoleBrowser(at.app.url);
  await browser.get('session.invited', { secret, name: role });
  return browser;
}

/** All that a person can read of the link: the list, its panel, the file, the forms, the page. */
async function seenBy(browser: ConsoleBrowser) {
  const of = { at: at.own.code };
  const list = await browser.get('links.list', { ...of, ...PAGE });
  const id = list.rows[0]?.id ?? 0;
  const url = `https://${HOST}/sub/x`;
  const seen = [
    list,
    await browser.get('links.show', { ...of, id }),
    await browser.get('links.csv', { ...of, filter: FILTER, beyondId: null }),
    await browser.get('links.final', { ...of, id, url, title: null }),
    await browser.get('page.show', of),
    await browser.get('overview.read', of),
  ];
  return JSON.stringify(seen);
}

test.each(['support', 'reader'] as const)(
  '%s sees four signs, and can search for no more',
  async (role) => {
    const browser = await memberAs(role);
    const seen = await seenBy(browser);
    expect(seen).toContain('Secr…');
    expect(seen).not.toContain(CODE.slice(0, 5));
    // A search by parts would tell the code sign by sign.
    const found = async (search: string) => {
      const filter = { ...FILTER, search };
      return (await browser.get('links.list', { at: at.own.code, ...PAGE, filter })).rows.length;
    };
    expect(await found('SecretC')).toBe(0);
    expect(await found('phone')).toBe(1);
  },
);

test('a sender and the operator see the whole code', async () => {
  for (const browser of [operator, await memberAs('sender')]) {
    expect(await seenBy(browser)).toContain(CODE);
    const filter = { ...FILTER, search: 'SecretC' };
    const found = await browser.get('links.list', { at: at.own.code, ...PAGE, filter });
    expect(found.rows).toHaveLength(1);
  }
});

test('an observer of the appliance sees four signs at a device', async () => {
  const { secret } = await operator.get('accounts.invite', { role: 'observer' });
  const observer = new ConsoleBrowser(at.app.url);
  await observer.get('session.invited', { secret, name: 'observer' });
  const codesFor = async (browser: ConsoleBrowser) =>
    (await browser.get('devices.show', { hwid: 'phone' })).links.map(
      ({ installCode }) => installCode,
    );
  expect(await codesFor(observer)).toEqual(['Secr…']);
  expect(await codesFor(operator)).toEqual([CODE]);
});

test('an event of a refusal has no sign of it', () => {
  const refusal = { reason: 'link_limit_reached', device: null, count: 1, day: 1 } as const;
  const of = (keyHash: string | null) =>
    linkRefused({ id: 1, installCode: CODE, keyHash }, refusal).data['code'];
  expect(of(subscriptionKeyHash(CODE))).toBeNull();
  expect(of(subscriptionKeyHash('another'))).toBe('Secr…');
  expect(of(null)).toBe('Secr…');
});

/** The address of the page in an answer. */
const pageIn = ({ body }: { body: string }) => /https?:\/\/\S*\/my\?\S+/.exec(body)?.[0] ?? '';

test('the page opens by a reference, which ends after a day', async () => {
  const refused = await at.get(`/sub/${CODE}`, 'other');
  expect(refused.status).toBe(404);
  const address = pageIn(refused);
  expect(address).toContain('/my?link=~');
  expect(address).not.toContain(CODE);
  const path = address.slice(address.indexOf('/my'));
  const open = (target: string) => fetch(at.app.url + target);
  const page = await open(path);
  expect(page.status).toBe(200);
  // The page names the code nowhere either.
  expect(await page.text()).not.toContain(CODE);
  expect((await open(path.replace(/~\w+\./, '~9.'))).status).toBe(404);
  expect((await open(path.replace(/(~\w+\.\w+\.)[-\w]{16}/, '$1AAAAAAAAAAAAAAAA'))).status).toBe(
    404,
  );
  at.app.clock.advance(25 * 3_600_000);
  expect((await open(path)).status).toBe(404);
});

test('a browser at the address is sent to the page by a reference', async () => {
  const got = await at.get(`/sub/${CODE}`, null, { Accept: 'text/html' });
  expect(got.status).toBe(303);
  expect(got.headers.get('location')).toContain('/my?link=~');
  expect(got.headers.get('location')).not.toContain(CODE);
});

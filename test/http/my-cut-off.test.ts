/** Users of links cut off a device on the page, where the provider lets them. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { proverOf } from '../../src/core/panel/cut-off.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { auditEntries } from '../support/audit.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { cutPanel, cutterOf } from '../support/cut-panel.ts';
import { operatorBrowser } from '../support/operator.ts';
import { type Fronted, KEY, startFronted } from '../support/upstream.ts';

let at: Fronted;
beforeEach(async () => {
  const cutting = { cutOff: true, panel: '3x-ui', panelTokenFile: '/token' } as const;
  at = await startFronted(
    undefined,
    { ...cutting, defaultLimit: 5 },
    { myPath: '/my', myUrl: 'https://my.example.com' },
  );
  Object.assign(at.app.core.limits, { gateUpstreams: at.app.settings.gateUpstreams });
  await at.app.core.store.updateProvider(at.own.code, { my: 1, myCutOff: 1 }, ACT);
});
afterEach(() => at.stop());

async function linkWith(phones: string[], key = KEY) {
  for (const phone of phones) await at.get(`/sub/${key}`, phone);
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(key));
  if (link === undefined) throw new Error('there is no such link');
  const { providerId } = link;
  const [upstream] = at.app.settings.gateUpstreams;
  const prover = upstream === undefined ? '' : proverOf(upstream);
  await at.app.core.store.noteKeyProof(providerId, subscriptionKeyHash(key), prover, 0);
  return link;
}

const pageOf = async (code: string) => (await fetch(`${at.app.url}/my?link=${code}`)).text();

/** The references by which the page cuts devices off. */
const cutsIn = (html: string) =>
  [...html.matchAll(/name="cut" value="([^"]+)"/g)].map(([, reference = '']) => reference);

async function post(link: string, form: Record<string, string>) {
  const answered = await fetch(`${at.app.url}/my`, {
    method: 'POST',
    body: new URLSearchParams({ link, ...form }),
    redirect: 'manual',
  });
  return /said=(\w+)/.exec(answered.headers.get('location') ?? '')?.[1];
}

const cuts = async () => {
  const { json } = await call(at.app, '/api/list-cuts', at.own);
  return json.data as Record<string, unknown>[];
};

test('a user removes a device, and the panel changes the credentials, once a day', async () => {
  const { installCode } = await linkWith(['a', 'b', 'c']);
  const html = await pageOf(installCode);
  const references = cutsIn(html);
  expect(references).toHaveLength(3);
  // On a card: it stands over the coloured head of the page.
  expect(html).toMatch(/<p class="card">[^<]+every other device must then update the subscription/);
  expect(await post(installCode, { cut: references[0] ?? '' })).toBe('cut');
  expect(await pageOf(`${installCode}&said=cut`)).toContain('The servers change within minutes');
  expect(await cuts()).toMatchObject([{ state: 'waiting', by_user: true }]);
  expect((await auditEntries(at.app.core)).at(-1)).toMatchObject({
    action: 'cut.ask',
    who: 'user',
  });
  const panel = cutPanel();
  await cutterOf(at.app, panel).run();
  expect(panel.tried).toHaveLength(1);
  expect(await cuts()).toMatchObject([{ state: 'done', devices: 2 }]);
  // Neither the page nor an old one does it again.
  expect(cutsIn(await pageOf(installCode))).toEqual([]);
  at.app.clock.advance(DAY_MS - 60_000);
  expect(cutsIn(await pageOf(installCode))).toEqual([]);
  expect(await post(installCode, { cut: references[1] ?? '' })).toBe('gone');
  expect(await cuts()).toHaveLength(1);
  at.app.clock.advance(60_000);
  const [next = ''] = cutsIn(await pageOf(installCode));
  expect(await post(installCode, { cut: next })).toBe('cut');
});

test('it is off until the provider switches it on, and where no panel proved the link', async () => {
  const { installCode } = await linkWith(['a', 'b']);
  const [reference = ''] = cutsIn(await pageOf(installCode));
  await at.app.core.store.updateProvider(at.own.code, { myCutOff: 0 }, ACT);
  expect(cutsIn(await pageOf(installCode))).toEqual([]);
  expect(await post(installCode, { cut: reference })).toBe('cooling');
  expect(await cuts()).toEqual([]);
  expect((await at.links())[0]).toMatchObject({ count: 2 });
  await at.app.core.store.updateProvider(at.own.code, { myCutOff: 1 }, ACT);
  const code = 'LinkCode0001';
  await call(at.app, '/api/add-install', at.own, { install_code: code, subscription_key: 'typed' });
  expect(cutsIn(await pageOf(code))).toEqual([]);
});

test('users of a provider have ten times as many an hour, beside those of the provider', async () => {
  const panel = cutPanel();
  const worker = cutterOf(at.app, panel, at.app.core, 1);
  for (let n = 0; n < 12; n++) {
    const { id, installCode, providerId } = await linkWith(['p', 'q'], `key-number-${n}-0123456`);
    if (n === 0) {
      const wanted = { installId: id, hwid: null, host: 'sub.example.org', why: null };
      const keyHash = subscriptionKeyHash(`key-number-${n}-0123456`);
      const act = { ...ACT, atMs: at.app.clock.nowMs() };
      await at.app.core.store.askCut(providerId, { ...wanted, keyHash, isByUser: false }, act);
    } else {
      const [reference = ''] = cutsIn(await pageOf(installCode));
      expect(await post(installCode, { cut: reference })).toBe('cut');
    }
  }
  await worker.run();
  expect(panel.tried).toHaveLength(11);
});

test('the page is set by an account, and not by the key that a bot has', async () => {
  const set = { at: at.own.code, my: 1, myName: '', myColor: '', myCutOff: 1 } as const;
  await at.app.core.store.updateProvider(at.own.code, { myCutOff: 0 }, ACT);
  const byKey = new ConsoleBrowser(at.app.url);
  await byKey.get('session.key', { code: at.own.code, key: at.own.authKey });
  expect(await byKey.refusal('page.set', set)).toBe('no_account');
  await call(at.app, '/api/policy', at.own, { page_cut_off: 1 });
  expect(await at.app.core.store.findProvider(at.own.code)).toMatchObject({ myCutOff: 0 });
  await (await operatorBrowser(at.app)).get('page.set', set);
  expect(await at.app.core.store.findProvider(at.own.code)).toMatchObject({ myCutOff: 1 });
});

test('staff cut off by a right of their own; a session of the key does not', async () => {
  const { id } = await linkWith(['a', 'b']);
  const given = { at: at.own.code, linkId: id, hwid: 'a' };
  const operator = await operatorBrowser(at.app);
  for (const role of ['sender', 'support', 'reader'] as const) {
    const { secret } = await operator.get('staff.invite', { at: at.own.code, role });
    const browser = new ConsoleBrowser(at.app.url);
    await browser.get('session.invited', { secret, name: role });
    expect(await browser.refusal('cuts.ask', given)).toBe('no_right');
    expect(await browser.refusal('bars.lift', { at: at.own.code, linkId: id, hwid: 'a' })).toBe(
      'no_right',
    );
  }
  const byKey = new ConsoleBrowser(at.app.url);
  await byKey.get('session.key', { code: at.own.code, key: at.own.authKey });
  expect(await byKey.refusal('cuts.ask', given)).toBe('no_account');
  const key = { at: at.own.code, name: 'k', scope: 'cuts', days: null } as const;
  expect(await byKey.refusal('keys.add', key)).toBe('no_account');
  expect(await operator.get('cuts.preview', { at: at.own.code, linkId: id })).toMatchObject({
    why: null,
    deviceCount: 2,
  });
  expect(await operator.get('cuts.ask', given)).toMatchObject({ cut: { state: 'waiting' } });
});

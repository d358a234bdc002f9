/** Proofs and waiting cut-offs of links whose key, upstream or panel changes meanwhile. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { HOUR_MS } from '../../../src/core/calendar.ts';
import { cutOff } from '../../../src/core/cut-off.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { proverOf } from '../../../src/core/panel/cut-off.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { type CutPanel, cutPanel, cutterOf } from '../../support/cut-panel.ts';
import { type Fronted, HOST, KEY, startFronted, upstreamTo } from '../../support/upstream.ts';

const KEY_2 = 'b1b2c3d4e5f6g7h8';
const CUTS = { cutOff: true, panel: '3x-ui', panelTokenFile: '/token', defaultLimit: 5 } as const;

let at: Fronted;
let panel: CutPanel;
let worker: ReturnType<typeof cutterOf>;
beforeEach(async () => {
  at = await startFronted(undefined, CUTS);
  shareUpstreams();
  panel = cutPanel();
  worker = cutterOf(at.app, panel);
});
afterEach(async () => {
  await worker.stop();
  await at.stop();
});

/** In the appliance both are the settings. */
const shareUpstreams = () =>
  Object.assign(at.app.core.limits, { gateUpstreams: at.app.settings.gateUpstreams });

/** Changes the upstream, as its owner does in the file or in the console. */
function edit(url: string, more: Parameters<typeof upstreamTo>[2] = {}) {
  const other = { ...CUTS, host: 'two.example.org', ...more };
  at.app.settings.gateUpstreams = [
    upstreamTo(at.panel.url, at.own.code, CUTS),
    upstreamTo(url, at.own.code, other),
  ].slice(more.host === HOST ? 1 : 0);
  shareUpstreams();
}

async function linkOf(key = KEY) {
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(key));
  if (link === undefined) throw new Error('there is no such link');
  return link;
}

/** The upstreams that proved the link, once there are so many. */
async function proofs(count: number): Promise<readonly string[]> {
  const { id: installId, providerId } = await linkOf();
  for (let n = 0; ; n++) {
    const facts = await at.app.core.store.findCutFacts(providerId, {
      installCode: null,
      installId,
    });
    const by = facts?.provedBy ?? [];
    if (by.length >= count || n === 200) return by;
    await Bun.sleep(1);
  }
}

async function cut(hwid: string | null = null) {
  const { id: installId, providerId: id } = await linkOf();
  const { core } = at.app;
  const selector = { installCode: null, installId };
  const asked = await cutOff(core, { id }, selector, hwid, at.app.clock.nowMs());
  if (isRefused(asked)) throw new Error(asked.reason);
  return asked.cut;
}

async function listed() {
  const { id: installId, providerId } = await linkOf();
  const page = { installId, isWaiting: false, beforeId: null, countMax: 9 };
  return (await at.app.core.store.listCuts({ ...page, providerId })).map(
    ({ state, why }) => why ?? state,
  );
}

test('another panel behind the same host has proved nothing, until it answers', async () => {
  await at.get(`/sub/${KEY}`, 'a');
  expect(await proofs(1)).toHaveLength(1);
  edit(at.panel.url, { host: HOST, panelUrl: 'https://another.example.org' });
  expect((await cut()).why).toBe('no panel has proved the subscription key of the link');
  await at.get(`/sub/${KEY}`, 'a');
  for (let n = 0; n < 200 && (await cut()).state !== 'waiting'; n++) await Bun.sleep(1);
  expect((await cut()).state).toBe('waiting');
  // What the panel before it proved is gone.
  expect(await proofs(1)).toHaveLength(1);
});

test('a cut-off that waits is not made at a panel that is not the one that proved the key', async () => {
  await at.get(`/sub/${KEY}`, 'a');
  await proofs(1);
  await cut();
  // The panel moved to another host, and another one is behind the first.
  edit(at.panel.url);
  const { gateUpstreams } = at.app.settings;
  at.app.settings.gateUpstreams = gateUpstreams.map((one) =>
    one.host === HOST
      ? { ...one, url: 'http://127.0.0.1:9', panelTokenFile: '/t2' }
      : { ...one, panelTokenFile: '/t1' },
  );
  shareUpstreams();
  const { providerId } = await linkOf();
  const two = at.app.settings.gateUpstreams.find(({ host }) => host !== HOST);
  if (two === undefined) throw new Error('there is no second upstream');
  await at.app.core.store.noteKeyProof(providerId, subscriptionKeyHash(KEY), proverOf(two), 1);
  await worker.run();
  expect(panel.tried).toEqual([]);
  expect(await listed()).toEqual(['another panel has proved the key of the link since']);
});

test('a key that comes back to its link, or to another one, is proved again', async () => {
  await at.get(`/sub/${KEY}`, 'a');
  await proofs(1);
  const { id, providerId } = await linkOf();
  const typed = { subscriptionKeyHash: subscriptionKeyHash(KEY_2) };
  const { store } = at.app.core;
  await store.updateLink(providerId, id, typed, ACT);
  // A new link has the key now.
  at.app.clock.advance(HOUR_MS);
  await at.get(`/sub/${KEY}`, 'a');
  expect(await proofs(1)).toHaveLength(1);
});

test('a cut-off of the key before does not stand for one of the key that the link has now', async () => {
  await at.get(`/sub/${KEY}`, 'a');
  await proofs(1);
  await cut();
  const { id, providerId } = await linkOf();
  const typed = { subscriptionKeyHash: subscriptionKeyHash(KEY_2) };
  await at.app.core.store.updateLink(providerId, id, typed, ACT);
  const selector = { installCode: null, installId: id };
  const again = await cutOff(at.app.core, { id: providerId }, selector, null, at.app.clock.nowMs());
  expect(isRefused(again) ? again : again.cut).toMatchObject({
    state: 'impossible',
    why: 'no panel has proved the subscription key of the link',
  });
});

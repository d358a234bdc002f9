/** A panel's own refusal of a customer who ended: passed as it is, with the day of the end. */

import { afterEach, describe, expect, test } from 'bun:test';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import type { FollowedUser } from '../../../src/core/port/follow.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { call } from '../../support/app.ts';
import { answer, SUBSCRIPTION } from '../../support/panel.ts';
import { startPanelApi } from '../../support/panel-api.ts';
import { ANNA, frontAnna, REFUSALS } from '../../support/panel-customer.ts';
import { digestToken } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { type Fronted, type Got, HOST } from '../../support/upstream.ts';

const DAY_MS = 86_400_000;
const ENDED_MS = Date.UTC(2026, 10, 18);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function front(panel: PanelKind, more: Partial<Upstream> = {}) {
  const world = await frontAnna(panel, more);
  closers.push(() => world.fronted.stop());
  return world;
}

/** Notes what a pass of `follow` saw. */
async function see({ app }: Fronted, keyHash: string, more: Partial<FollowedUser>) {
  const { store } = app.core;
  const nowMs = app.clock.nowMs();
  const claim = { owner: 'test', nowMs, leaseUntilMs: nowMs + 60_000 };
  const follow = await store.claimFollow(HOST, { source: 'a/b', hashKey: keyHash }, claim);
  if (follow === null) throw new Error('the panel is not due');
  const hold = { id: follow.id, ...claim };
  const user: FollowedUser = {
    userHash: 'a'.repeat(32),
    keyHash,
    state: 'expired',
    panelLimit: null,
    endsAtMs: ENDED_MS,
    note: null,
    missedCount: 0,
    ...more,
  };
  await store.stepFollow(hold, { put: [user], drop: [] });
  const counts = { userCount: 1, addedCount: 1, changedCount: 0, goneCount: 0, missingCount: 0 };
  await store.endFollow(hold, { counts, view: '', tookMs: 1, nextAtMs: nowMs });
}

const announced = ({ headers }: Got): string => {
  const [, coded = ''] = /^base64:(.*)$/.exec(headers.get('announce') ?? '') ?? [];
  return Buffer.from(coded, 'base64').toString();
};
const stateIn = ({ headers }: Got) => headers.get('x-subscription-state');
const EN = 'This subscription ended on November 18, 2026. Renew it to connect again.';
const NOTHING = ['', undefined];

describe.each([...PANELS])('%s', (panel) => {
  test('its refusal passes as it is, with the day, until the customer renewed', async () => {
    const { fronted, keyHash, get, refuse, admit } = await front(panel);
    await see(fronted, keyHash, {});
    refuse();
    const bare = fronted.panel.calls.length;
    const got = await get();
    const [head = '', body = ''] = Buffer.from(REFUSALS[panel]()).toString().split('\r\n\r\n');
    expect([got.status, got.body]).toEqual([Number(head.split(' ')[1]), body]);
    expect([announced(got), stateIn(got)]).toEqual([EN, 'expired']);
    expect(fronted.panel.calls).toHaveLength(bare + 1);
    // Gatepost refuses nobody by what it knows: the panel lets the customer in again.
    admit();
    const renewed = await get();
    expect([renewed.status, renewed.body]).toEqual([200, SUBSCRIPTION]);
    expect([announced(renewed), stateIn(renewed)]).toEqual(NOTHING);
  });

  test('limits tell the day as well', async () => {
    const api = startPanelApi(panel, [{ ...ANNA, endsAtMs: ENDED_MS, isActive: false }]);
    closers.push(() => api.stop());
    const more = { panelUrl: api.url, panelTokenFile: '/token', limits: 'panel' as const };
    const { get, refuse } = await front(panel, more);
    refuse();
    await until('the answer of the API', async () => stateIn(await get()) === 'expired');
    expect(announced(await get())).toBe(EN);
  });
});

test.each([
  ['ru', 'Срок подписки истёк (18 ноября 2026 г.). Продлите её, чтобы подключиться снова.'],
  ['zh-CN', '该订阅已于2026年11月18日到期。续费后即可重新连接。'],
  ['fa', 'این اشتراک در ۲۷ آبان ۱۴۰۵ به پایان رسیده است. برای اتصال دوباره آن را تمدید کنید.'],
  ['en', EN],
])('%s: the text is in the language of the app', async (language, text) => {
  const { fronted, keyHash, get, refuse } = await front('marzban');
  await see(fronted, keyHash, {});
  refuse();
  expect(announced(await get('phone', { 'Accept-Language': language }))).toBe(text);
});

test('the operator writes the text, also in a language that has no dates', async () => {
  const { fronted, keyHash, get, refuse } = await front('marzban');
  await see(fronted, keyHash, {});
  refuse();
  fronted.app.settings.gateTexts = { 'en-a': { subscription_ended: 'Ended {date}, {date}' } };
  fronted.app.settings.gateLanguage = 'en-a';
  expect(announced(await get())).toBe('Ended November 18, 2026, November 18, 2026');
});

test('used up traffic has its own text', async () => {
  const { fronted, keyHash, get, refuse } = await front('marzban');
  await see(fronted, keyHash, { state: 'limited', endsAtMs: ENDED_MS + 90 * DAY_MS });
  refuse();
  const got = await get();
  expect(stateIn(got)).toBe('limited');
  expect(announced(got)).toBe(
    'The traffic of this subscription is used up. Renew it to connect again.',
  );
});

test("the panel's own announcement stays, and the reason is beside it", async () => {
  const { fronted, keyHash, get, said } = await front('pasarguard');
  await see(fronted, keyHash, {});
  said.answer = answer(403, 'no', { announce: 'base64:SGVsbG8=' });
  const got = await get();
  expect([announced(got), stateIn(got)]).toEqual(['Hello', 'expired']);
});

const userinfo = (text: string) => ({ 'subscription-userinfo': text });
const ENDED_S = ENDED_MS / 1_000;

describe.each([...PANELS])('%s: what the answers said', (panel) => {
  test('the header of the refusal itself is enough', async () => {
    const { get, said } = await front(panel);
    said.answer = answer(200, '', userinfo(`total=0; expire=${ENDED_S}`));
    const got = await get();
    expect([got.status, got.body, announced(got), stateIn(got)]).toEqual([200, '', EN, 'expired']);
    said.answer = answer(404, 'no', userinfo(`upload=1; download=2; total=3; expire=0`));
    const limited = await get();
    expect([limited.status, limited.body, stateIn(limited)]).toEqual([404, 'no', 'limited']);
  });

  test('what was read before is, too, for the devices of that link alone', async () => {
    const { fronted, get, linkId, refuse, said } = await front(panel);
    const { app, own } = fronted;
    await call(app, '/api/policy', own, { subscription_figures: '1' });
    said.answer = answer(200, SUBSCRIPTION, userinfo(`total=0; expire=${ENDED_S}`));
    app.clock.advance(60_000);
    expect((await get()).status).toBe(200);
    await until('the figures', () => app.core.store.findSubscriptionFigures(linkId));
    refuse();
    said.answer = answer(404, '');
    expect(stateIn(await get())).toBe('expired');
    for (const hwid of ['a-stranger', null]) {
      const got = await get(hwid);
      expect(stateIn(got)).toBeUndefined();
      expect(announced(got)).not.toContain('2026');
    }
  });
});

test.each([
  ['a refusal of 403', () => answer(403, 'no')],
  ['an empty success', () => answer(200, '', { 'content-encoding': 'gzip', etag: '"a"' })],
])('%s becomes a placeholder only where the operator chose that', async (_, refusal) => {
  const { fronted, keyHash, get, said } = await front('marzban', { placeholder: true });
  await see(fronted, keyHash, {});
  said.answer = refusal();
  const got = await get();
  const [link = ''] = Buffer.from(got.body, 'base64').toString().split('\n');
  expect([got.status, decodeURIComponent(link.split('#')[1] ?? '')]).toEqual([200, `⛔ ${EN}`]);
  expect([announced(got), stateIn(got), got.isWhole]).toEqual([EN, 'expired', true]);
  expect([got.headers.get('content-encoding'), got.headers.get('etag')]).toEqual([
    ...[undefined, undefined],
  ]);
  const clash = await get('phone', { 'User-Agent': 'clash.meta', 'Accept-Language': 'zh' });
  expect(Buffer.from(clash.body, 'latin1').toString()).toContain('⛔ 该订阅已于2026年11月18日到期');
  // A customer who has not ended gets what the panel says.
  await see(fronted, keyHash, { endsAtMs: null, state: 'disabled' });
  said.answer = answer(403, 'no');
  const plain = await get();
  expect([plain.status, plain.body, stateIn(plain)]).toEqual([403, 'no', undefined]);
});

describe('nothing is said', () => {
  type World = Awaited<ReturnType<typeof front>>;
  const asked = async ({ get }: World, hwid = 'phone') => {
    const got = await get(hwid);
    return [announced(got), stateIn(got)];
  };

  test.each([
    ['whose end is ahead', { endsAtMs: ENDED_MS + 90 * DAY_MS, state: 'active' }],
    ['without an end', { endsAtMs: null, state: 'disabled' }],
  ] as const)('of a customer %s', async (_, user) => {
    const world = await front('marzban');
    await see(world.fronted, world.keyHash, user);
    world.refuse();
    expect(await asked(world)).toEqual(NOTHING);
  });

  test('where no pass and no limit told', async () => {
    const world = await front('marzban');
    world.refuse();
    expect(await asked(world)).toEqual(NOTHING);
  });

  test.each(['marzban', '3x-ui'] as const)('to a device without a slot (%s)', async (panel) => {
    const world = await front(panel);
    await see(world.fronted, world.keyHash, {});
    world.refuse();
    const got = await world.get('a-stranger');
    expect(stateIn(got)).toBeUndefined();
    expect(announced(got)).not.toContain('2026');
  });

  test('to apps without a HWID, which share one slot', async () => {
    const world = await front('marzban');
    const { app, own } = world.fronted;
    await call(app, '/api/policy', own, { without_hwid: 'count' });
    expect((await world.get(null)).status).toBe(200);
    await see(world.fronted, world.keyHash, {});
    world.refuse();
    expect([stateIn(await world.get(null)), stateIn(await world.get())]).toEqual([
      ...[undefined, 'expired'],
    ]);
  });

  test('by a token that is not proven', async () => {
    const world = await front('marzban');
    await see(world.fronted, world.keyHash, {});
    world.refuse();
    const forged = `/sub/${digestToken('anna,1790000000', 'b'.repeat(64))}`;
    const got = await world.fronted.get(forged, 'phone');
    expect(stateIn(got)).toBeUndefined();
    world.fronted.app.settings.gateUpstreams = world.fronted.app.settings.gateUpstreams.map(
      (upstream) => ({ ...upstream, keySecretFile: '' }),
    );
    expect(stateIn(await world.fronted.get(forged, 'phone'))).toBeUndefined();
  });

  test('about a key that a provider typed', async () => {
    const { fronted, said } = await front('3x-ui');
    const typed = 'key-of-another-customer';
    const link = { install_limit: '3', subscription_key: typed };
    await call(fronted.app, '/api/add-install', fronted.own, link);
    await see(fronted, subscriptionKeyHash(typed), {});
    const ask = () => fronted.get(`/sub/${typed}`, 'tablet');
    said.answer = answer(200, 'no subscription');
    await ask();
    said.answer = answer(404, '');
    expect(stateIn(await ask())).toBeUndefined();
  });

  test('with a subscription, and with a fault of the panel', async () => {
    const world = await front('marzban');
    await see(world.fronted, world.keyHash, {});
    expect(await asked(world)).toEqual(NOTHING);
    world.said.answer = answer(500, '');
    expect(await asked(world)).toEqual(NOTHING);
  });
});

/** The panel behind `/gate` is asked before a new device takes a slot. */

import { afterEach, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { type KeyPath, readKeyPath } from '../../src/core/key-path.ts';
import { PANELS, type PanelKind } from '../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call, read, seedProvider, startTestApp } from '../support/app.ts';
import { API_TOKEN, type ApiUser, keyOf, startPanelApi } from '../support/panel-api.ts';
import { bind } from '../support/shop.ts';
import { digestToken, macToken, SECRET } from '../support/signing-panel.ts';
import { until } from '../support/until.ts';

const HOST = 'sub.example.com';
const HOUR_MS = 3_600_000;
const CREATED_S = 1_790_000_000;
const UUID = '00000010-aaaa-4bbb-8ccc-d00000000000';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ANNA: ApiUser = {
  id: 7,
  name: 'anna',
  key: UUID,
  isActive: true,
  createdAtMs: CREATED_S * 1_000 + 284,
};

type Signing = Extract<PanelKind, 'marzban' | 'pasarguard'>;

const tokenOf = (panel: Signing, seconds: number) =>
  panel === 'marzban' ? digestToken(`anna,${seconds}`) : macToken(`v3,7,${seconds}`);

/** Reads the name and the time of a token, for the panel's own `info`. */
function readToken(token: string): { name: string; signedAtMs: number } | null {
  const dot = token.lastIndexOf('.');
  const data = dot < 0 ? token.slice(0, -10) : token.slice(0, dot);
  const [seconds, user] = Buffer.from(data, 'base64url').toString().split(',').reverse();
  const name = user === '7' ? 'anna' : (user ?? '');
  return { name, signedAtMs: Number(seconds) * 1_000 };
}

/** A panel with anna, her imported link, and an appliance that a proxy asks about it. */
async function openGate(
  panel: PanelKind,
  { status = 10, isTyped = false, limit = 2, hasGateway = false, key = UUID } = {},
) {
  const anna = { ...ANNA, key };
  const api = startPanelApi(panel, [anna], readToken);
  closers.push(() => api.stop());
  const isSigned = panel === 'marzban' || panel === 'pasarguard';
  const app = await startTestApp({
    trustedProxies: parseTrustedProxies(['127.0.0.1']),
    gateKeyPaths: [readKeyPath('/sub/{key}') as KeyPath],
    gateKey: isSigned ? panel : 'plain',
    gateKeySecretFile: isSigned ? '/secret' : '',
    gatePanel: panel,
    gatePanelUrl: api.url,
    gatePanelTokenFile: '/token',
    gatePanelHeadersFile: hasGateway ? '/headers' : '',
    secretOf: (file: string) =>
      (file === '/headers'
        ? 'X-Access: let-in\n'
        : file === '/token'
          ? API_TOKEN
          : file && SECRET) || null,
  });
  closers.push(() => app.close());
  const own = await seedProvider(app);
  await bind(app, own, hostHash(HOST));
  const provider = await app.core.store.findProvider(own.code);
  const keyHash = subscriptionKeyHash(keyOf(panel, anna));
  const link = {
    id: null,
    installCode: 'CodeOfAnna01',
    installLimit: limit,
    status,
    note: 'anna',
    createdAtMs: 1,
    panelUser: `${panel}:anna`,
    slots: [],
    terms: { ...NO_TERMS, subscriptionKeyHash: keyHash },
  };
  const { panelUser: _, ...typed } = link;
  const rules = { installCountMax: 100, updates: false };
  await app.core.store.importLink(provider?.id ?? 0, isTyped ? typed : link, rules, ACT);
  const ask = async (segment: string, hwid: string, method = 'GET') => {
    const headers = {
      'x-original-uri': `/sub/${segment}`,
      'x-original-method': method,
      'x-forwarded-host': HOST,
      'x-hwid': hwid,
    };
    const { response } = { response: await fetch(`${app.url}/gate`, { headers }) };
    if (response.status === 204) return 'admitted';
    const { json } = await read(response);
    return json.msg;
  };
  const slots = async () => {
    const { json } = await call(app, '/api/list-hwid', own, { install_code: 'CodeOfAnna01' });
    return json.data.map((slot: { hwid: string }) => slot.hwid).sort();
  };
  return { api, app, own, ask, slots };
}

const UNKNOWN = 'Install not found';

describe.each(['marzban', 'pasarguard'] as const)('%s: tokens', (panel) => {
  const token = (seconds: number) => tokenOf(panel, seconds);

  test('a revoked token takes no slot, and the owner has both', async () => {
    const { api, ask, slots } = await openGate(panel);
    const [leaked, fresh] = [token(CREATED_S + 10), token(CREATED_S + 100)];
    api.users = [{ ...ANNA, revokedAtMs: (CREATED_S + 50) * 1_000 }];
    expect([await ask(leaked, 'thief'), await ask(leaked, 'thief-2')]).toEqual([UNKNOWN, UNKNOWN]);
    expect([await ask(fresh, 'phone'), await ask(fresh, 'tablet')]).toEqual([
      ...['admitted', 'admitted'],
    ]);
    expect(await slots()).toEqual(['phone', 'tablet']);
    // The user, and each token once; a revoked one is compared with a new one.
    expect(api.asked).toHaveLength(2);
    expect(api.tokensAsked).toEqual([leaked, 'fresh-of-anna', fresh]);
  });

  test('a token from before its user was made is refused, one from after admitted', async () => {
    const { api, ask, slots } = await openGate(panel);
    expect(await ask(token(CREATED_S), 'thief')).toBe(UNKNOWN);
    expect(await ask(token(CREATED_S + 1), 'phone')).toBe('admitted');
    expect(await slots()).toEqual(['phone']);
    expect(api.tokensAsked).toEqual([token(CREATED_S + 1)]);
  });

  test('a device that holds a slot never asks; a new one asks once an hour', async () => {
    const { api, app, ask } = await openGate(panel);
    expect(await ask(token(CREATED_S + 10), 'phone')).toBe('admitted');
    expect(api.asked).toHaveLength(1);
    app.clock.advance(HOUR_MS);
    expect(await ask(token(CREATED_S + 10), 'phone')).toBe('admitted');
    expect(await ask(token(CREATED_S + 10), 'phone', 'HEAD')).toBe('admitted');
    expect(api.asked).toHaveLength(1);
    expect(await ask(token(CREATED_S + 20), 'tablet')).toBe('admitted');
    // The link is full: no answer of the panel could admit another device.
    expect(await ask(token(CREATED_S + 30), 'watch')).not.toBe('admitted');
    expect(api.asked).toHaveLength(2);
  });

  test('a user whom the panel does not have is refused; one that is made again comes', async () => {
    const { api, app, ask, slots } = await openGate(panel);
    api.users = [];
    const now = Math.floor(app.clock.nowMs() / 1_000);
    expect([await ask(token(now - 60), 'a'), await ask(token(now - 60), 'b')]).toEqual([
      ...[UNKNOWN, UNKNOWN],
    ]);
    expect(api.asked).toHaveLength(1);
    api.users = [{ ...ANNA, createdAtMs: (now + 1) * 1_000 }];
    expect(await ask(token(now + 2), 'phone')).toBe('admitted');
    expect(await ask(token(now - 60), 'a')).toBe(UNKNOWN);
    expect(await slots()).toEqual(['phone']);
  });

  test.each([
    ['refuses the token of the API', () => Response.json({}, { status: 403 }), 1],
    ['has a fault', () => new Response('', { status: 502 }), 1],
    ['says nothing', () => new Promise<Response>(() => {}), 1],
    ['has no such path', () => Response.json({ detail: 'Not Found' }, { status: 404 }), 2],
    ['leads elsewhere', () => Response.redirect('http://127.0.0.1:1/', 302), 2],
  ])('a panel that %s: devices are admitted, and it is left alone', async (_, odd, asked) => {
    const { api, ask } = await openGate(panel);
    api.odd = odd;
    expect(await ask(token(CREATED_S + 10), 'phone')).toBe('admitted');
    expect(await ask(token(CREATED_S + 20), 'tablet')).toBe('admitted');
    expect(api.asked).toHaveLength(asked);
  });

  test('a server that does not pass the address of tokens on refuses no device', async () => {
    const { api, ask } = await openGate(panel);
    api.passesInfo = false;
    expect(await ask(token(CREATED_S + 10), 'phone')).toBe('admitted');
    expect(api.tokensAsked).toEqual([token(CREATED_S + 10), 'fresh-of-anna']);
  });

  test('a panel behind an access gateway is asked with its headers, for tokens too', async () => {
    const { api, ask } = await openGate(panel, { hasGateway: true });
    expect(await ask(token(CREATED_S + 10), 'phone')).toBe('admitted');
    expect([api.asked.length, api.tokensAsked.length]).toEqual([1, 1]);
    expect(api.access).toEqual(['let-in', 'let-in']);
  });

  test('16 tokens of a link are asked about in an hour, and no more', async () => {
    const { api, ask } = await openGate(panel, { limit: 40 });
    for (let n = 40; n > 0; n--) await ask(token(CREATED_S + n), `phone-${n}`);
    expect(api.asked).toHaveLength(16);
  });
});

describe.each(['remnawave', '3x-ui', 'hiddify'] as const)('%s: plain keys', (panel) => {
  test('a key without a user takes no slot', async () => {
    const { api, ask, slots } = await openGate(panel);
    expect(await ask(UUID, 'phone')).toBe('admitted');
    expect(await ask(UUID, 'tablet')).toBe('admitted');
    expect(api.asked).toHaveLength(1);
    expect(await slots()).toEqual(['phone', 'tablet']);
    const gone = await openGate(panel);
    gone.api.users = [];
    expect(await gone.ask(UUID, 'phone')).toBe(UNKNOWN);
    expect(await gone.slots()).toEqual([]);
  });

  test('a key that a provider typed costs no question', async () => {
    const { api, ask } = await openGate(panel, { isTyped: true });
    api.users = [];
    expect(await ask(UUID, 'phone')).toBe('admitted');
    expect(api.asked).toEqual([]);
  });
});

// SQLite makes only letters of ASCII small, and the panel all letters of a search.
test.each(['Анна', 'ЯЮЭ', 'Émile-Жук', 'İzmir', 'SOME%_Key', 'Anna'])(
  '3x-ui: the client of %s is found',
  async (key) => {
    const { ask, slots } = await openGate('3x-ui', { key });
    expect(await ask(encodeURIComponent(key), 'phone')).toBe('admitted');
    expect(await slots()).toEqual(['phone']);
  },
);

test.each(['marzban', 'hiddify'] as const)(
  '%s: a link that an import disabled comes back',
  async (panel) => {
    const { api, app, ask } = await openGate(panel, { status: 5 });
    const segment = panel === 'marzban' ? tokenOf(panel, CREATED_S + 10) : UUID;
    api.users = [{ ...ANNA, isActive: false }];
    expect(await ask(segment, 'phone')).toBe('Install disabled');
    api.users = [ANNA];
    expect(await ask(segment, 'phone')).toBe('Install disabled');
    expect(api.asked).toHaveLength(1);
    app.clock.advance(60_000);
    expect(await ask(segment, 'phone')).toBe('admitted');
  },
);

test('without the settings of the API the panel is not asked', async () => {
  const { api, app, ask } = await openGate('marzban');
  app.settings.gatePanelTokenFile = '';
  api.users = [];
  expect(await ask(tokenOf('marzban', CREATED_S), 'phone')).toBe('admitted');
  expect(api.asked).toEqual([]);
});

describe('gate.read = "panel"', () => {
  const END_MS = Date.UTC(2026, 11, 30);
  const GB = 1024 ** 3;
  const PAID = { ...ANNA, endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB };

  async function reading(panel: PanelKind, options: Parameters<typeof openGate>[1] = {}) {
    const gate = await openGate(panel, options);
    const { app, api, own } = gate;
    api.users = [PAID];
    app.settings.gateRead = 'panel';
    await call(app, '/api/policy', own, { subscription_figures: '1' });
    const provider = await app.core.store.findProvider(own.code);
    const hash = subscriptionKeyHash(keyOf(panel, ANNA));
    const link = await app.core.store.findTiedLink(provider?.id ?? 0, hash);
    const kept = () => app.core.store.findSubscriptionFigures(link?.id ?? 0);
    const isSigned = panel === 'marzban' || panel === 'pasarguard';
    const segment = isSigned ? tokenOf(panel, CREATED_S + 10) : UUID;
    // The entry of a new device asks about it, and not again for an hour.
    expect(await gate.ask(segment, 'phone')).toBe('admitted');
    return { ...gate, kept, segment };
  }

  test.each([...PANELS])('%s: figures come from the API, once an hour', async (panel) => {
    const { api, app, ask, kept, segment } = await reading(panel);
    await until('the figures', kept);
    const said = { endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB };
    expect(await kept()).toMatchObject({ ...said, source: 'panel' });
    const askedCount = api.asked.length;
    for (const _ of Array(3)) expect(await ask(segment, 'phone')).toBe('admitted');
    expect(api.asked).toHaveLength(askedCount);
    api.users = [{ ...PAID, endsAtMs: END_MS + 30 * 24 * HOUR_MS }];
    app.clock.advance(HOUR_MS);
    expect(await ask(segment, 'phone')).toBe('admitted');
    await until('the end', async () => (await kept())?.endsAtMs !== END_MS);
    expect(api.asked).toHaveLength(askedCount + 1);
  });

  test('a key that a provider typed is not read; a token that the panel signed is', async () => {
    const plain = await reading('3x-ui', { isTyped: true });
    expect(await plain.ask(UUID, 'phone')).toBe('admitted');
    await plain.slots();
    expect([plain.api.asked, await plain.kept()]).toEqual([[], null]);
    const signed = await reading('marzban', { isTyped: true });
    await until('the figures', signed.kept);
  });

  test('HEAD, a refused device and a switched off setting ask nothing', async () => {
    const { api, app, ask, kept, slots, segment } = await reading('marzban', { limit: 1 });
    await until('the figures', kept);
    app.clock.advance(HOUR_MS);
    api.asked.length = 0;
    await ask(segment, 'phone', 'HEAD');
    await ask(segment, 'tablet');
    app.settings.gateRead = 'off';
    await ask(segment, 'phone');
    await slots();
    expect(api.asked).toEqual([]);
  });
});

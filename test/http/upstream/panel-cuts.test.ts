/** Cut-offs at panels that answer as the real ones were recorded, and fail in each way. */

import { afterEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../../src/core/json-input.ts';
import type { CutOutcome } from '../../../src/core/panel/cut-off.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { freshFolder } from '../../support/app.ts';
import { FakeClock } from '../../support/clock.ts';
import {
  CUT_PANELS,
  type CutBehaviour,
  type CutKind,
  setIn,
  startCutPanel,
} from '../../support/credential-panel.ts';
import { cutsAt } from '../../support/panel-cuts.ts';
import { play, recordedCutOff, recordedFolder, recordingOf } from '../../support/recorded.ts';
import { until } from '../../support/until.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Panel = Awaited<ReturnType<typeof startCutPanel>>;

async function start(kind: CutKind, behaviour: Partial<CutBehaviour> = {}): Promise<Panel> {
  const panel = await startCutPanel(kind, behaviour);
  stops.push(panel.stop);
  return panel;
}

const TOKEN = 'token-of-the-panel';
const SECRET = /password|uuid|token|auth|secret|key$/i;

/** Returns the secrets in what a panel said and was told, and the names of its user. */
function secretsIn(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => secretsIn(one, name));
  if (isRecord(value)) return Object.entries(value).flatMap(([at, one]) => secretsIn(one, at));
  const isSecret = SECRET.test(name) || /^(?:id|email|username|subId)$/.test(name);
  return isSecret && typeof value === 'string' && value.length > 5 ? [value] : [];
}

type Options = Partial<Parameters<typeof cutsAt>[0]>;

/** Cuts off at a panel; no outcome may have a secret. */
function cutterAt(kind: CutKind, panel: Panel, more: Options = {}) {
  const { url, link } = panel;
  const at = cutsAt({ panel: kind, url, token: TOKEN, link, ...more });
  const cut = async (ask?: Parameters<typeof at.cut>[0]): Promise<CutOutcome> => {
    const outcome = await at.cut(ask);
    const text = JSON.stringify(outcome);
    const { before, change, after } = panel.script;
    const secrets = secretsIn([before, change, after].flat().map(({ body, sent }) => [body, sent]));
    const told = [TOKEN, link.key, ...secrets].filter((secret) => text.includes(secret));
    expect(told).toEqual([]);
    return outcome;
  };
  return { ...at, cut };
}

/** The hours after which apps fetch again, as the recorded settings have them. */
const INTERVALS: Readonly<Record<CutKind, number | null>> = {
  '3x-ui': null,
  marzban: null,
  pasarguard: 12,
  remnawave: null,
};

const SENT: Readonly<Record<CutKind, object>> = {
  '3x-ui': {
    id: expect.stringMatching(/^[\da-f]{8}-/),
    email: 'cut_off',
    subId: expect.any(String),
    enable: true,
    comment: 'paid until May',
    created_at: expect.any(Number),
    expiryTime: 0,
    totalGB: 0,
    limitHwid: 0,
    trafficReset: 'never',
  },
  marzban: {
    proxies: { shadowsocks: { method: 'chacha20-ietf-poly1305' } },
    next_plan: {
      data_limit: 1_073_741_824,
      expire: 2_592_000,
      add_remaining_traffic: true,
      fire_on_either: true,
    },
  },
  pasarguard: {
    proxy_settings: {
      vmess: {},
      vless: {},
      trojan: {},
      shadowsocks: { method: 'chacha20-ietf-poly1305' },
      wireguard: { peer_ips: [] },
      hysteria: {},
    },
    next_plan: { data_limit: 1_073_741_824, expire: 2_592_000, add_remaining_traffic: true },
  },
  remnawave: { revokeOnlyPasswords: true },
};

/** Changes of other fields, by the field that is named. */
const CHANGES: Readonly<Record<CutKind, Readonly<Record<string, readonly [string, unknown]>>>> = {
  '3x-ui': {
    expiryTime: ['obj.client.expiryTime', 1_900_000_000_000],
    totalGB: ['obj.client.totalGB', 7],
    flow: ['obj.client.flow', 'xtls-rprx-vision'],
    limitHwid: ['obj.client.limitHwid', 9],
    group: ['obj.client.group', 'seller-2'],
    inboundIds: ['obj.inboundIds', []],
    'traffic.expiryTime': ['obj.expiryTime', 1_900_000_000_000],
    uuid: ['obj.client.uuid', ''],
    used: ['obj.usedTraffic', -1],
  },
  marzban: {
    expire: ['expire', 1_900_000_000],
    data_limit: ['data_limit', 7],
    status: ['status', 'disabled'],
    'inbounds.shadowsocks': ['inbounds.shadowsocks', []],
    'proxies.shadowsocks.method': ['proxies.shadowsocks.method', 'aes-256-gcm'],
    'shadowsocks.password': ['proxies.shadowsocks.password', ''],
    next_plan: ['next_plan', null],
    admin: ['admin', null],
    used_traffic: ['used_traffic', -1],
  },
  pasarguard: {
    expire: ['expire', '2030-01-01T00:00:00Z'],
    data_limit: ['data_limit', 7],
    status: ['status', 'disabled'],
    group_ids: ['group_ids', []],
    'proxy_settings.shadowsocks.method': ['proxy_settings.shadowsocks.method', 'aes-256-gcm'],
    'vless.id': ['proxy_settings.vless', {}],
    next_plan: ['next_plan', null],
    hwid_limit: ['hwid_limit', 9],
    used_traffic: ['used_traffic', -1],
  },
  remnawave: {
    expireAt: ['response.expireAt', '2030-01-01T00:00:00.000Z'],
    trafficLimitBytes: ['response.trafficLimitBytes', 7],
    status: ['response.status', 'DISABLED'],
    activeInternalSquads: ['response.activeInternalSquads', [{ uuid: 'a', name: 'b' }]],
    shortUuid: ['response.shortUuid', 'another-short-uuid'],
    hwidDeviceLimit: ['response.hwidDeviceLimit', 9],
    ssPassword: ['response.ssPassword', ''],
    usedTrafficBytes: ['response.userTraffic.usedTrafficBytes', -1],
  },
};

/** What reading, connecting and fetching change meanwhile. */
const LIVELY: Readonly<Record<CutKind, readonly (readonly [string, unknown])[]>> = {
  '3x-ui': [
    ['obj.usedTraffic', 5_000],
    ['obj.up', 5_000],
    ['obj.lastOnline', 1_900_000_000_000],
    ['obj.lastSubFetch', 1_900_000_000_000],
  ],
  marzban: [
    ['used_traffic', 5_000],
    ['online_at', '2026-11-29T06:13:51'],
    ['sub_updated_at', '2026-11-29T06:13:51'],
    ['sub_last_user_agent', 'Happ/3.1'],
    ['admin.users_usage', 5_000],
  ],
  pasarguard: [
    ['used_traffic', 5_000],
    ['online_at', '2026-11-29T06:13:51Z'],
  ],
  remnawave: [
    ['response.userTraffic.usedTrafficBytes', 5_000],
    ['response.userTraffic.onlineAt', '2026-11-29T06:13:51.000Z'],
    ['response.lastTriggeredThreshold', 80],
  ],
};

/** The value of `panel_admin` to which the recorded user belongs, made so where it has none. */
const OWNERS: Readonly<Record<CutKind, { name: string; field: string; value: unknown }>> = {
  '3x-ui': { name: 'seller-1', field: 'obj.client.group', value: 'seller-1' },
  marzban: { name: 'seller-1', field: 'admin.username', value: 'seller-1' },
  pasarguard: { name: 'seller-1', field: 'admin', value: { username: 'seller-1' } },
  remnawave: {
    name: 'seller-1',
    field: 'response.activeInternalSquads',
    value: [{ uuid: '33333333-3333-4333-8333-333333333333', name: 'seller-1' }],
  },
};

const NOT_PROVED =
  'this panel never proved the key of the link: no subscription, import or follow brought it';
const SEEN = expect.stringMatching(/^[\da-f]{16}$/);

describe.each([...CUT_PANELS])('%s', (kind) => {
  test('makes the credentials new by one change, and reads them back', async () => {
    const panel = await start(kind);
    const { cut } = cutterAt(kind, panel);
    expect(await cut()).toEqual({ is: 'done', interval: INTERVALS[kind] });
    const { script } = panel;
    const [change, ...more] = panel.changes();
    expect(more).toEqual([]);
    expect(change).toMatchObject({ method: script.change.method ?? '', path: script.change.path });
    expect(change?.body).toMatchObject(SENT[kind]);
    // No path of a panel that ends the link too.
    expect(panel.asked.filter(({ path }) => path.includes('revoke_sub'))).toEqual([]);
    const authorized = Object.entries(PANEL_TRAITS[kind].api.headersOf(TOKEN));
    for (const { headers } of panel.asked)
      expect(headers).toMatchObject(Object.fromEntries(authorized));
    const at = panel.asked.findIndex(({ method }) => method !== 'GET');
    const around = [panel.asked[at - 1], panel.asked[at + 1]].map((one) => one?.method);
    expect(around).toEqual(['GET', 'GET']);
  });

  test.each(Object.entries(CHANGES[kind]))('stops if %s differs afterwards', async (name, to) => {
    const panel = await start(kind, { after: (_, body) => setIn(body, ...to) });
    expect(await cutterAt(kind, panel).cut()).toEqual({ is: 'differs', fields: [name] });
  });

  test('takes what traffic and fetches change meanwhile', async () => {
    const after = (_: string, body: unknown) =>
      LIVELY[kind].reduce((so, to) => setIn(so, ...to), body);
    const panel = await start(kind, { after });
    expect(await cutterAt(kind, panel).cut()).toMatchObject({ is: 'done' });
  });

  const REFUSALS = [
    [401, 'the panel refuses the token (401)'],
    [403, 'the panel does not allow it to this token (403)'],
    [404, 'the panel answered with HTTP 404'],
    [422, 'the panel answered with HTTP 422'],
    [500, 'the panel answered with HTTP 500'],
    [502, 'the panel answered with HTTP 502'],
  ] as const;
  test.each(REFUSALS)('fails if the change is answered with %i', async (status, why) => {
    const body = { detail: `no ${TOKEN}`, message: 'cut_off' };
    const panel = await start(kind, { answers: { status, body }, applies: false });
    expect(await cutterAt(kind, panel).cut()).toEqual({ is: 'failed', why, seen: SEEN });
    expect(panel.changes()).toHaveLength(1);
  });

  test('fails if the panel says that it changed the user, and did not', async () => {
    const panel = await start(kind, { applies: false });
    expect(await cutterAt(kind, panel).cut()).toMatchObject({
      is: 'failed',
      why: 'the panel answered that it changed the credentials, and still has the old ones',
    });
  });

  test('is done by what the panel says afterwards, whatever it answered', async () => {
    for (const answers of ['half', { status: 500 }] as const) {
      const panel = await start(kind, { answers });
      expect(await cutterAt(kind, panel).cut()).toMatchObject({ is: 'done' });
    }
  });

  test('fails by half an answer to a change that was not made', async () => {
    const panel = await start(kind, { answers: 'half', applies: false });
    const outcome = await cutterAt(kind, panel).cut();
    expect(outcome).toMatchObject({ is: 'failed', seen: SEEN });
    expect(panel.changes()).toHaveLength(1);
  });

  test('reads back also if the deadline ends before the change is answered', async () => {
    for (const applies of [true, false]) {
      const ends = new AbortController();
      const panel = await start(kind, { answers: 'never', applies });
      const cutting = cutterAt(kind, panel).cut({ deadline: ends.signal });
      await until('the change', async () => panel.changes().length === 1);
      ends.abort();
      expect(await cutting).toMatchObject(
        applies
          ? { is: 'done', interval: INTERVALS[kind] }
          : { is: 'failed', why: 'the panel did not answer in time', seen: SEEN },
      );
    }
  });

  test('a later try sees that an earlier one has changed the credentials', async () => {
    let isAway = true;
    const after = (_: string, body: unknown) => (isAway ? null : body);
    const panel = await start(kind, { after });
    const { cut } = cutterAt(kind, panel);
    const outcome = await cut();
    expect(outcome).toEqual({ is: 'failed', why: 'the panel answered with HTTP 500', seen: SEEN });
    isAway = false;
    const seen = outcome.is === 'failed' ? outcome.seen : '';
    expect(await cut({ seen })).toEqual({ is: 'changed_already' });
    expect(panel.changes()).toHaveLength(1);
  });

  test('a later try goes on where the credentials are the same', async () => {
    const panel = await start(kind, { answers: { status: 500 }, applies: false });
    const { cut } = cutterAt(kind, panel);
    const outcome = await cut();
    Object.assign(panel.behaves, { answers: 'its own', applies: true });
    const seen = outcome.is === 'failed' ? outcome.seen : '';
    expect(await cut({ seen })).toMatchObject({ is: 'done' });
  });

  test('changes nothing while the panel is away, refuses the token, or is another', async () => {
    const panel = await start(kind, { before: () => null });
    const { cut } = cutterAt(kind, panel);
    expect(await cut()).toEqual({
      is: 'failed',
      why: 'the panel answered with HTTP 500',
      seen: null,
    });
    panel.behaves.before = () => ({});
    expect(await cut()).toMatchObject({ is: 'failed', seen: null });
    panel.behaves.before = (_, body) => body;
    const gone = new AbortController();
    gone.abort();
    expect(await cut({ deadline: gone.signal })).toMatchObject({ is: 'failed', seen: null });
    await panel.stop();
    expect(await cut()).toEqual({
      is: 'failed',
      why: 'the panel is not reached (ECONNREFUSED)',
      seen: null,
    });
    expect(panel.changes()).toEqual([]);
  });

  test('changes no user who is not read within a second before', async () => {
    const clock = new FakeClock();
    let isSlow = true;
    const panel = await start(kind, { onAsk: () => isSlow && clock.advance(1_100) });
    const { cut } = cutterAt(kind, panel, { clock });
    expect(await cut()).toEqual({
      is: 'failed',
      why: 'the panel is too slow: it must answer within a second',
      seen: SEEN,
    });
    expect(panel.changes()).toEqual([]);
    isSlow = false;
    expect(await cut()).toMatchObject({ is: 'done' });
  });

  test('follows no redirect', async () => {
    const other = await start(kind);
    const { path } = other.script.change;
    const panel = await start(kind, {
      answers: { status: 307, location: `${other.url}${path}` },
      applies: false,
    });
    expect(await cutterAt(kind, panel).cut()).toMatchObject({
      is: 'failed',
      why: 'the panel answered with HTTP 307',
    });
    expect(other.asked).toEqual([]);
  });

  test('asks no panel about a link that it did not prove', async () => {
    const panel = await start(kind);
    const { key, panelUser } = panel.link;
    const other = kind === 'marzban' ? 'pasarguard' : 'marzban';
    const typed = [null, panelUser.replace(`${kind}:`, `${other}:`)];
    for (const user of typed) {
      const { cut } = cutterAt(kind, panel, { link: { key, panelUser: user } });
      expect(await cut()).toEqual({ is: 'impossible', why: NOT_PROVED });
    }
    // The key of the link was changed since.
    const { cut } = cutterAt(kind, panel);
    expect(await cut({ key: 'another-key' })).toMatchObject({ is: 'impossible' });
    expect(panel.asked).toEqual([]);
  });

  test('changes no user of another panel_admin', async () => {
    const { name, field, value } = OWNERS[kind];
    const panel = await start(kind);
    const own = cutterAt(kind, panel, { upstream: { panelAdmin: name } });
    const why = 'the user does not belong to panel_admin of the upstream';
    expect(await own.cut()).toEqual({ is: 'impossible', why });
    expect(panel.changes()).toEqual([]);
    panel.behaves.before = (_, body) => setIn(body, field, value);
    panel.behaves.after = panel.behaves.before;
    expect(await own.cut()).toMatchObject({ is: 'done' });
  });

  test('changes no user whose key is another by now', async () => {
    const panel = await start(kind);
    const { panelUser } = panel.link;
    const { cut } = cutterAt(kind, panel, { link: { key: 'an-older-key', panelUser } });
    expect(await cut()).toMatchObject({ is: 'impossible' });
    expect(panel.changes()).toEqual([]);
  });
});

test.each(['3x-ui', 'marzban', 'pasarguard'] as const)(
  '%s: a user who is gone, and a wrong token, as they were recorded',
  async (panel) => {
    const recorded = recordedCutOff(recordedFolder(panel, recordingOf(panel).version));
    if (recorded === null) throw new Error('not recorded');
    const said = async (name: 'gone' | 'refused') => {
      const { missing, stop, url } = play(recorded.exchanges[name]);
      stops.push(stop);
      const key = panel === 'marzban' ? 'marzban/cut_off_gone' : 'pasarguard/2';
      const ofGone = { key, panelUser: `${panel}:${key.split('/')[1]}` };
      const { key: own, id } = recorded;
      const link = name === 'gone' ? ofGone : { key: own, panelUser: `${panel}:${id ?? 'hash'}` };
      const outcome = await cutsAt({ panel, url, link }).cut();
      expect(missing).toEqual([]);
      return outcome;
    };
    expect(await said('gone')).toEqual({
      is: 'impossible',
      why: 'the panel has no such user, or does not show it to this token',
    });
    expect(await said('refused')).toEqual({
      is: 'failed',
      why: 'the panel refuses the token (401)',
      seen: null,
    });
  },
);

describe('an account', () => {
  /** Marzban, whose tokens end when the test says so. */
  async function withAccount() {
    const panel = await start('marzban');
    const file = join(freshFolder(), 'account');
    writeFileSync(file, 'admin\nmade-up-password\n', { mode: 0o600 });
    let [token, signIns, path] = ['', 0, ''];
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        path = new URL(request.url).pathname;
        if (path === '/api/admin/token') {
          signIns += 1;
          token = `token-number-${signIns}`;
          return Response.json({ access_token: token });
        }
        const authorization = request.headers.get('authorization');
        if (authorization !== `Bearer ${token}`) return new Response(null, { status: 401 });
        const body = request.method === 'GET' ? null : await request.text();
        return fetch(panel.url + path, { method: request.method, body });
      },
    });
    stops.push(() => server.stop(true));
    const url = `http://127.0.0.1:${server.port}`;
    const upstream = { panelTokenFile: '', panelAccountFile: file };
    const { cut } = cutterAt('marzban', panel, { url, upstream });
    const ends = () => {
      token = '';
    };
    return { cut, ends, panel, signIns: () => signIns };
  }

  test('gives the token, and one sign-in serves all calls', async () => {
    const { cut, signIns } = await withAccount();
    expect(await cut()).toMatchObject({ is: 'done' });
    expect(signIns()).toBe(1);
  });

  test('is not signed in again while the panel was asked a moment ago', async () => {
    const { cut, ends, panel, signIns } = await withAccount();
    panel.behaves.onAsk = ({ method }) => {
      if (method === 'GET' && panel.asked.length === 2) ends();
    };
    expect(await cut()).toEqual({
      is: 'failed',
      why: 'the panel refuses the token (401)',
      seen: SEEN,
    });
    expect([signIns(), panel.changes()]).toEqual([1, []]);
  });
});

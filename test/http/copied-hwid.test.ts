/** Five phones with one HWID, under each rule, through all doors. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Cut } from '../../src/core/port/cut-off.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { order } from '../support/messaging.ts';
import { answer, behaveWell, type PanelCall } from '../support/panel.ts';
import { expectOk } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
};

type Headers = Record<string, string>;

/** The headers of a phone, but for its HWID. */
const phone = (os: string, model: string, agent = 'Happ/3.2.1'): Headers => ({
  'x-device-os': os,
  'x-device-model': model,
  'user-agent': agent,
});
const PIXEL = phone('Android', 'Pixel 9');
const IPHONE = phone('iOS', 'iPhone17,1');
const DESKTOP = phone('Windows', 'DESKTOP-4F2A');
const MAC = phone('macOS', 'Mac14,2');
const GALAXY = phone('Android', 'SM-S921B');
const FIVE = [PIXEL, IPHONE, DESKTOP, MAC, GALAXY];

/** The behaviour of the panel. */
let behave: (asked: PanelCall) => Promise<void> | void;
let at: Fronted;
/** The link that is asked. */
let key = KEY;
let code = '';
beforeEach(async () => {
  behave = behaveWell;
  at = await startFronted((asked) => behave(asked), {}, OPTIONS);
  const link = { install_limit: '3', subscription_key: KEY };
  code = (await expectOk(call(at.app, '/api/add-install', at.own, link))).json.install_code;
  key = KEY;
});
afterEach(() => at.stop());

/** Asks with a HWID; returns `ok`, or why the door refuses. */
type Door = (of: Headers, hwid?: string) => Promise<string>;

const proxy: Door = async (headers, hwid = 'x') => {
  const { status, headers: got } = await at.get(`/sub/${key}`, hwid, headers);
  if (status === 200) return 'ok';
  return got.get('x-hwid-limit') === 'true' ? full(announced(got.get('announce'))) : `${status}`;
};
const gate: Door = async (headers, hwid = 'x') => {
  const about = { 'x-original-uri': `/sub/${key}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
  const asked = await fetch(`${at.app.url}/gate`, { headers: { ...about, ...headers } });
  return asked.status === 204 ? 'ok' : full(asked.headers.get('x-error-detail') ?? '');
};
const install: Door = async (headers, hwid = 'x') => {
  const link = { id: hostHash(HOST), installid: code };
  const init = { headers: { ...headers, 'x-hwid': hwid } };
  const reply = await call(at.app, '/install', null, link, init);
  if (reply.json.rc === 1) return 'ok';
  expect(reply.json).toEqual({ rc: 0, msg: reply.json.msg });
  if (reply.json.msg !== 'Install limit reached') return reply.json.msg;
  expect(reply.headers.get('x-hwid-limit')).toBe('true');
  expect(reply.headers.get('x-hwid-max-devices-reached')).toBe('true');
  return full(reply.headers.get('x-error-detail') ?? '');
};
const device: Door = async (headers, hwid = 'x') => {
  const { json } = await register(headers, hwid);
  if (json.rc === 1) return 'ok';
  return json.reason === 'copied_hwid' ? 'copied' : json.msg;
};

const full = (text: string) => (/another phone/.test(text) ? 'copied' : 'full');
const announced = (header = '') => Buffer.from(header.replace(/^base64:/, ''), 'base64').toString();

/** Registers for messages by the link. */
function register(headers: Headers, hwid: string, token?: string) {
  const facts = { os: headers['x-device-os'], device_name: headers['x-device-model'] };
  const link = { install_code: code, domain_hash: hostHash(HOST) };
  const body = JSON.stringify({ hwid, ...facts, ...link });
  const auth = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const init = { method: 'POST', body, headers: { 'user-agent': headers['user-agent'], ...auth } };
  return call(at.app, '/device/register', null, {}, init as RequestInit);
}

async function hwids(): Promise<string[]> {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_code: code });
  return json.data.map(({ hwid }: { hwid: string }) => hwid).sort();
}

const set = (terms: Headers) =>
  expectOk(call(at.app, '/api/update-install', at.own, { id: 1, ...terms }));

/** Has phones ask one after the other, an hour apart, in each of some rounds. */
async function rounds(door: Door, phones: readonly Headers[], count: number): Promise<string[][]> {
  const heard: string[][] = [];
  for (let round = 0; round < count; round++) {
    const answers: string[] = [];
    for (const headers of phones) {
      at.app.clock.advance(HOUR_MS);
      answers.push(await door(headers));
      expect((await hwids()).length).toBeLessThanOrEqual(3);
    }
    heard.push(answers);
  }
  return heard;
}

const DOORS: [string, Door][] = [
  ['/install', install],
  ['/gate', gate],
  ['the proxy', proxy],
  ['/device/register', device],
];

describe.each(DOORS)('through %s', (name, door) => {
  // A registration has no name of its app, within which alone models are compared.
  const tellsModels = name !== '/device/register';

  test('off and tell let five phones in as one device', async () => {
    await set({ copied_hwid: 'off' });
    expect((await rounds(door, FIVE, 3)).flat()).toEqual(Array(15).fill('ok'));
    expect(await at.app.core.store.listPhones(1)).toEqual([]);
    await set({ copied_hwid: 'default' });
    expect((await rounds(door, FIVE, 3)).flat()).toEqual(Array(15).fill('ok'));
    expect(await hwids()).toEqual(['x']);
    const phones = await at.app.core.store.listPhones(1);
    const found = phones.filter(({ state }) => state === 'certain');
    expect(found).toHaveLength(tellsModels ? 4 : 3);
  });

  test('count gives each a slot, within the limit', async () => {
    await set({ copied_hwid: 'count' });
    const [, second, third] = await rounds(door, FIVE, 3);
    expect(second).toEqual(third as string[]);
    const isFull = name === '/device/register' ? 'Install limit reached' : 'full';
    expect(third?.filter((answer) => answer === 'ok')).toHaveLength(3);
    expect(third?.filter((answer) => answer === isFull)).toHaveLength(2);
    expect(await hwids()).toEqual(['x', expect.stringMatching(/^x~\d$/), expect.any(String)]);
    at.app.clock.advance(DAY_MS);
    expect(await door(PIXEL)).toBe('ok');
  });

  test('refuse lets in the phone that came first', async () => {
    await set({ copied_hwid: 'refuse' });
    const [first, ...others] = await rounds(door, FIVE, 3);
    expect(first?.[0]).toBe('ok');
    for (const answers of others) {
      const last = tellsModels ? 'copied' : 'ok';
      expect(answers).toEqual(['ok', 'copied', 'copied', 'copied', last]);
    }
    expect(await hwids()).toEqual(['x']);
  });

  test('privacy.keep = "less" keeps no phone and no model, of named HWIDs neither', async () => {
    Object.assign(at.app.core.limits, { privacyKeep: 'less' });
    await set({ copied_hwid: 'count' });
    const named = { install_code: code, hwid: 'named' };
    await expectOk(call(at.app, '/api/add-hwid', at.own, named));
    expect((await rounds(door, FIVE, 3)).flat()).toEqual(Array(15).fill('ok'));
    expect(await door(PIXEL, 'named')).toBe('ok');
    const { store } = at.app.core;
    const devices = await store.listLinkDevices(1, 1, 10);
    expect(devices.map(({ hwid, deviceName }) => [hwid, deviceName]).sort()).toEqual([
      ['named', ''],
      ['x', ''],
    ]);
    expect(await store.listPhones(1)).toEqual([]);
    await at.app.core.store.saveFigures();
    expect(JSON.stringify(await store.listRefused(1))).not.toMatch(
      /Pixel|iPhone|DESKTOP|Mac14|SM-/,
    );
  });

  test.each(['tell', 'count', 'refuse'])('two links of a provider: %s', async (rule) => {
    const terms = { install_limit: '2', copied_hwid: rule };
    const links = [];
    for (const own of ['first-link', 'second-link']) {
      const link = { ...terms, subscription_key: own };
      const { json } = await expectOk(call(at.app, '/api/add-install', at.own, link));
      links.push({ key: own, code: json.install_code, id: json.id });
    }
    // A device registers by one link of a provider alone.
    const doors = [door, tellsModels ? door : gate];
    const last: string[][] = [];
    for (let round = 0; round < 3; round++) {
      for (const [n, link] of links.entries()) {
        ({ key, code } = link);
        last[n] = (await rounds(doors[n] as Door, FIVE, 1))[0] as string[];
      }
    }
    for (const [n, link] of links.entries()) {
      const [own, ...copies] = last[n] as string[];
      expect(own).toBe('ok');
      const others = tellsModels || n === 1 ? copies : copies.slice(0, 3);
      if (rule === 'refuse') expect(others).toEqual(others.map(() => 'copied'));
      if (rule === 'count') expect(others.filter((answer) => answer === 'ok')).toHaveLength(1);
      if (rule !== 'tell') continue;
      expect(others).toEqual(others.map(() => 'ok'));
      const phones = await at.app.core.store.listPhones(link.id);
      expect(phones.filter(({ state }) => state === 'certain')).toHaveLength(4);
    }
  });
});

/** Has the Pixel and the iPhone take turns until they are told apart; returns the last answer. */
async function tellApart(door: Door = gate): Promise<string> {
  for (const headers of [PIXEL, IPHONE, PIXEL]) {
    expect(await door(headers)).toBe('ok');
    at.app.clock.advance(HOUR_MS);
  }
  return door(IPHONE);
}

const free = (hwid: string) =>
  expectOk(call(at.app, '/api/delete-hwid', at.own, { install_code: code, hwid }));

describe('a device of a further phone', () => {
  beforeEach(() => set({ copied_hwid: 'count', install_limit: '2' }));

  test.each([
    ['/gate', gate],
    ['the proxy', proxy],
  ])('fetches for its own slot after a cut-off: %s', async (_, door) => {
    await set({ copied_hwid: 'count' });
    expect(await tellApart(door)).toBe('ok');
    const { store } = at.app.core;
    const [installId, providerId] = [1, 1];
    const nowMs = at.app.clock.nowMs();
    const act = { ...ACT, atMs: nowMs };
    const whole = { installId, hwid: null, keyHash: subscriptionKeyHash(KEY), host: HOST };
    await store.askCut(providerId, { ...whole, why: null, isByUser: false }, act);
    const turn = { owner: 'one', nowMs, leaseUntilMs: nowMs + HOUR_MS, perHourMax: 1 };
    const { id } = (await store.claimCut(HOST, turn)) as Cut;
    const done = { state: 'done', fetchUntilMs: nowMs + DAY_MS } as const;
    await store.endCutAttempt({ id, owner: 'one' }, done, act);
    const bounds = { providerId, installId, isWaiting: false, beforeId: null, countMax: 1 };
    const waiting = async () => (await store.listCuts(bounds))[0]?.waitingCount;
    expect(await waiting()).toBe(2);
    // Twice: the second time the device of the HWID still waits.
    for (let n = 0; n < 2; n++) expect(await door(IPHONE)).toBe('ok');
    await until('one device waits', async () => (await waiting()) === 1);
    expect(await door(PIXEL)).toBe('ok');
    await until('no device waits', async () => (await waiting()) === 0);
  });

  test('is freed and comes back as any device', async () => {
    expect(await tellApart()).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2']);
    await free('x~2');
    expect(await hwids()).toEqual(['x']);
    expect(await gate(IPHONE, 'other')).toBe('ok');
    expect(await gate(IPHONE)).toBe('full');
    await free('other');
    expect(await gate(IPHONE)).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2']);
  });

  test('keeps its slot when that of the HWID is freed, and takes no second one', async () => {
    await tellApart();
    await free('x');
    expect(await gate(IPHONE)).toBe('ok');
    expect(await hwids()).toEqual(['x~2']);
    expect(await gate(PIXEL)).toBe('ok');
    expect(await gate(IPHONE)).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2']);
  });

  test.each(['tell', 'off', 'refuse'])('keeps its slot under %s until it ends', async (rule) => {
    await tellApart();
    await set({ copied_hwid: rule });
    expect(await gate(IPHONE)).toBe('ok');
    expect(await gate(PIXEL)).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2']);
    await free('x~2');
    expect(await gate(IPHONE)).toBe(rule === 'refuse' ? 'copied' : 'ok');
    expect(await hwids()).toEqual(['x']);
    await set({ copied_hwid: 'count' });
    expect(await gate(IPHONE)).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2']);
  });

  test('is named by no caller, at any door', async () => {
    await set({ install_limit: '5' });
    await tellApart();
    for (const [name, door] of DOORS) {
      const answer = await door(MAC, 'x~2');
      expect([name, answer]).toEqual([name, name === 'the proxy' ? '404' : expect.any(String)]);
      expect(answer).not.toBe('ok');
    }
    const link = { id: hostHash(HOST), installid: code, hwid: 'x~2' };
    expect((await call(at.app, '/install', null, link)).json.msg).toBe('HWID is required');
    const daily = { id: at.own.code, hwid: 'x~2' };
    expect((await call(at.app, '/provider', null, daily)).json.msg).toBe('HWID is required');
    expect((await call(at.app, '/provider', null, { ...daily, hwid: 'x~9' })).json.rc).toBe(1);
    // Names of the same form are HWIDs where no phone has them.
    expect(await install(MAC, 'x~3')).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2', 'x~3']);
  });

  test('has the next free name, or is refused as a copy where none is left', async () => {
    await set({ install_limit: '5' });
    expect(await gate(MAC, 'x~2')).toBe('ok');
    expect(await tellApart()).toBe('ok');
    expect(await hwids()).toEqual(['x', 'x~2', 'x~3']);
    const long = 'long-HWID-'.padEnd(127, 'ab');
    const named: Door = (headers) => gate(headers, long);
    expect(await tellApart(named)).toBe('copied');
    expect(await hwids()).toHaveLength(4);
  });

  test('is reached by its own HWID; that which it sends reaches the first phone', async () => {
    await set({ install_limit: '5' });
    for (const headers of [PIXEL, IPHONE, PIXEL]) {
      expect(await device(headers)).toBe('ok');
      at.app.clock.advance(HOUR_MS);
    }
    const { json } = await register(IPHONE, 'x');
    const first = (await register(PIXEL, 'x')).json.device_token;
    expect(await hwids()).toEqual(['x', 'x~2']);
    const inbox = async (token: string) => {
      const init = { headers: { authorization: `Bearer ${token}` } };
      const { data } = (await call(at.app, '/device/inbox', null, { wait: '0' }, init)).json;
      return data.length;
    };
    for (const [hwid, counts] of [
      ['x', [1, 0]],
      ['x~2', [1, 1]],
    ] as const) {
      await order(at.app, at.own, { hwid, action_type: 'update-subscription' });
      await at.app.deliver();
      expect([await inbox(first), await inbox(json.device_token)]).toEqual([...counts]);
    }
    // A token names its device, whatever the facts.
    const again = await register(PIXEL, 'x', json.device_token);
    expect(again.json.rc).toBe(1);
    expect(await inbox(again.json.device_token)).toBe(1);
  });
});

test('the panel proves a further phone by a 200 alone', async () => {
  await set({ copied_hwid: 'refuse' });
  expect(await proxy(PIXEL)).toBe('ok');
  behave = (asked) => asked.send(answer(304));
  const asks = (headers: Headers) => at.get(`/sub/${KEY}`, 'x', headers);
  for (const headers of [IPHONE, PIXEL, IPHONE, PIXEL]) {
    at.app.clock.advance(HOUR_MS);
    expect((await asks(headers)).status).toBe(304);
  }
  expect(await at.app.core.store.listPhones(1)).toEqual([]);
});

describe('apps without a HWID', () => {
  const NG: Headers = { 'user-agent': 'v2rayNG/1.9.3' };
  const VERGE: Headers = { 'user-agent': 'clash-verge/v2.0.3' };
  const unnamed = async (headers: Headers) => {
    at.app.clock.advance(HOUR_MS);
    return (await at.get(`/sub/${KEY}`, null, headers)).status;
  };

  test('have one slot, and with count one for each app and system', async () => {
    await set({ without_hwid: 'count' });
    for (const headers of [NG, VERGE, NG, VERGE]) expect(await unnamed(headers)).toBe(200);
    expect(await hwids()).toEqual(['no-hwid-1']);
    for (const rule of ['refuse', 'count']) {
      await set({ copied_hwid: rule });
      for (const headers of [NG, VERGE, NG, VERGE]) expect(await unnamed(headers)).toBe(200);
      const own = rule === 'count' ? ['no-hwid-1~2'] : [];
      expect(await hwids()).toEqual(['no-hwid-1', ...own]);
    }
    for (const { app, family } of await at.app.core.store.listPhones(1)) {
      expect([app, family]).toEqual([
        '',
        expect.stringMatching(/^(v2rayNG android|Clash Verge Rev)$/),
      ]);
    }
    expect(await proxy(NG, 'no-hwid-1~2')).not.toBe('ok');
  });
});

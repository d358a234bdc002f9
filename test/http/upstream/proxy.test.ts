/** Gatepost in front of a panel: who gets what the panel sent, and what it costs. */

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import { hostHash } from '../../../src/core/host-name.ts';
import { call, seedProvider } from '../../support/app.ts';
import {
  answer,
  behaveWell,
  PANEL_HEADERS,
  type PanelCall,
  SUBSCRIPTION,
  startPanel,
} from '../../support/panel.ts';
import { addLink, bind, LINK } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { exchange, HOST, KEY, useFronted } from '../../support/upstream.ts';

const front = useFronted();

test('the first device of a key makes its link; the fourth is refused without the panel', async () => {
  const at = await front();
  for (const hwid of ['a', 'b', 'c', 'a']) {
    const got = await at.get(`/sub/${KEY}`, hwid);
    expect([got.status, got.body]).toEqual([200, SUBSCRIPTION]);
    expect(got.headers.get('x-hwid-active')).toBe('true');
    for (const [name, value] of Object.entries(PANEL_HEADERS)) {
      expect(got.headers.get(name.toLowerCase())).toBe(Buffer.from(value).toString('latin1'));
    }
  }
  expect(at.panel.calls).toHaveLength(4);
  const refused = await at.get(`/sub/${KEY}`, 'd', { 'Accept-Language': 'ru' });
  expect(refused.status).toBe(404);
  expect(at.panel.calls).toHaveLength(4);
  expect(await at.links()).toEqual([{ count: 3, limit: 3, note: `${HOST} a1b2…` }]);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'x-hwid-active': 'true',
    'x-hwid-max-devices-reached': 'true',
    'x-hwid-limit': 'true',
    'content-language': 'ru',
    'cache-control': 'no-store',
  });
  const announced = refused.headers.get('announce')?.replace(/^base64:/, '') ?? '';
  const text = Buffer.from(announced, 'base64').toString();
  expect(text).toContain('лимит устройств');
  expect(Buffer.from(refused.body, 'latin1').toString()).toBe(`${text}\n`);
});

test('a text from right to left is marked so where it is plain, and not for apps', async () => {
  const at = await front();
  const refused = await at.get(`/sub/${KEY}`, null, { 'Accept-Language': 'fa' });
  const announced = refused.headers.get('announce')?.replace(/^base64:/, '') ?? '';
  const text = Buffer.from(announced, 'base64').toString();
  expect(text).toStartWith('این');
  expect(Buffer.from(refused.body, 'latin1').toString()).toBe(`\u2067${text}\u2069\n`);
});

test('a key that the panel does not know makes nothing, and the answer is the panel’s', async () => {
  const at = await front(({ send }) => send(answer(404, 'no such user', { 'X-Panel': '1' })));
  const got = await at.get(`/sub/${KEY}`, 'a');
  expect([got.status, got.body, got.headers.get('x-panel')]).toEqual([404, 'no such user', '1']);
  expect(got.headers.has('x-hwid-active')).toBe(false);
  expect(await at.links()).toEqual([]);
});

test('10,000 random paths make no row', async () => {
  const at = await front(({ send }) => send(answer(404)));
  const random = () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('base64url');
  const paths = Array.from({ length: 10_000 }, (_, count) =>
    count % 2 === 0 ? `/sub/${random()}` : `/${random()}/${random()}`,
  );
  const headers = { host: HOST, 'x-hwid': 'prober' };
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
        const { status, body } = await fetch(`${at.app.url}${path}`, { headers });
        await body?.cancel();
        expect(status).toBe(404);
      }
    }),
  );
  expect(at.panel.calls).toHaveLength(5_000);
  expect(await at.links()).toEqual([]);
  const { json } = await call(at.app, '/api/list-domain', at.own);
  expect(json.data).toHaveLength(1);
});

test('keys that nobody has are guesses: beyond a number the answer is late', async () => {
  let good = '/sub/good-key';
  const known = ({ target, send }: PanelCall) => send(answer(target === good ? 200 : 404, 'x'));
  const at = await front(known, {}, { authFailuresPerMinuteMax: 1 });
  expect((await at.get('/sub/guess-1', 'a')).status).toBe(404);
  const late = at.get('/sub/guess-2', 'a');
  await until('the guess waits', () => at.app.clock.sleeperCount === 1);
  expect((await at.get('/sub/good-key', 'a')).status).toBe(200);
  good = '/none';
  expect((await at.get('/sub/good-key', 'a')).status).toBe(404);
  at.app.clock.advance(1_000);
  expect((await late).status).toBe(404);
});

test('one address has so many links made in a minute, whatever keys a panel takes', async () => {
  const at = await front(undefined, {}, { registrationsPerMinuteMax: 2 });
  const ask = (key: string, hwid = 'a') => at.get(`/sub/made-up-${key}`, hwid);
  expect([(await ask('1')).status, (await ask('2')).status]).toEqual([200, 200]);
  const beyond = await ask('3');
  expect([beyond.status, beyond.headers.get('retry-after')]).toEqual([429, '60']);
  expect(beyond.body).not.toContain(SUBSCRIPTION.trim());
  expect(await at.links()).toHaveLength(2);
  // Links that are there have no part in it.
  expect([(await ask('1')).status, (await ask('2', 'b')).status]).toEqual([200, 200]);
  at.app.clock.advance(60_000);
  expect((await ask('3')).status).toBe(200);
});

test('of fifty devices that come first together, as many as may get in by one link', async () => {
  const at = await front();
  const comers = Array.from({ length: 50 }, (_, count) => at.get(`/sub/${KEY}`, `phone-${count}`));
  const got = await Promise.all(comers);
  const admitted = got.filter(({ status }) => status === 200);
  expect(admitted.map(({ body }) => body)).toEqual(Array(3).fill(SUBSCRIPTION));
  expect(got.filter(({ status }) => status === 404)).toHaveLength(47);
  expect(await at.links()).toEqual([{ count: 3, limit: 3, note: `${HOST} a1b2…` }]);
});

test('who comes when the last slot has just gone gets nothing of the panel’s answer', async () => {
  const asked: PanelCall[] = [];
  const at = await front(
    async (question) => {
      // Both are asked about before either is answered.
      if (asked.push(question) === 2) for (const each of asked) await behaveWell(each);
    },
    { defaultLimit: 1 },
  );
  const got = await Promise.all(['a', 'b'].map((hwid) => at.get(`/sub/${KEY}`, hwid)));
  expect(got.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  const refused = got.find(({ status }) => status === 404);
  expect(refused?.body).not.toContain(SUBSCRIPTION.trim());
  expect(refused?.headers.has('subscription-userinfo')).toBe(false);
});

describe('a link', () => {
  test('that has the code of the query is found by it', async () => {
    const at = await front();
    await addLink(at.app, at.own, LINK, 1);
    const path = (name: string) => `/sub/${KEY}?x=1&${name}=${LINK}`;
    expect((await at.get(path('InstallID'), 'a')).status).toBe(200);
    expect((await at.get(path('installid'), 'b')).status).toBe(404);
    // The panel and its log never have the code.
    expect(at.panel.calls.map(({ target }) => target)).toContain(`/sub/${KEY}?x=1`);
    expect(at.panel.calls.filter(({ target }) => target.includes(LINK))).toEqual([]);
    expect(await at.links()).toEqual([{ count: 1, limit: 1, note: null as never }]);
  });

  test('that has the key goes before any code', async () => {
    const at = await front(undefined, { defaultLimit: 1 });
    await addLink(at.app, at.own, LINK, 100);
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
    const past = await at.get(`/sub/${KEY}?installid=${LINK}`, 'b');
    expect([past.status, past.headers.get('x-hwid-limit')]).toEqual([404, 'true']);
    const twice = `/sub/${KEY}?installid=${LINK}&installid=${LINK}`;
    expect((await at.get(twice, 'a')).status).toBe(404);
    expect(at.panel.calls).toHaveLength(1);
  });

  test('that is named twice is none', async () => {
    const at = await front();
    await addLink(at.app, at.own, LINK, 9);
    const got = await at.get(`/sub/${KEY}?installid=${LINK}&InstallID=${LINK}`, 'a');
    expect([got.status, at.panel.calls.length]).toEqual([404, 0]);
  });

  test('of another provider lets nobody in, although it bound the same host', async () => {
    const at = await front();
    const other = await seedProvider(at.app);
    await bind(at.app, other, hostHash(HOST));
    await addLink(at.app, other, LINK, 100);
    expect((await at.get(`/sub/${KEY}?installid=${LINK}`, 'a')).status).toBe(404);
    expect(at.panel.calls).toEqual([]);
  });

  test('that is disabled lets nobody in', async () => {
    const at = await front();
    await at.get(`/sub/${KEY}`, 'a');
    const { json } = await call(at.app, '/api/list-install', at.own);
    await call(at.app, '/api/update-install', at.own, { id: json.data[0].id, status: 5 });
    const got = await at.get(`/sub/${KEY}`, 'a');
    expect([got.status, got.body.trim()]).toEqual([
      404,
      'This subscription is disabled. Contact support.',
    ]);
    expect(at.panel.calls).toHaveLength(1);
  });

  test('of a host whose binding is disabled lets nobody in', async () => {
    const at = await front();
    await at.get(`/sub/${KEY}`, 'a');
    const { json } = await call(at.app, '/api/list-domain', at.own);
    await call(at.app, '/api/delete-domain', at.own, { id: json.data[0].id });
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(404);
    expect((await at.get(`/sub/other-key-of-it`, 'a')).status).toBe(404);
    expect(await at.links()).toHaveLength(1);
  });

  test('is not made beyond the number that the provider may have', async () => {
    const at = await front(undefined, {}, { bounds: { linksPerProviderMax: 1 } });
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
    const got = await at.get('/sub/another-key', 'a');
    expect([got.status, got.headers.has('x-hwid-limit')]).toEqual([404, false]);
    expect(await at.links()).toHaveLength(1);
  });
});

test('a device is there as well when it has the subscription already', async () => {
  let status = 200;
  const at = await front(({ send }) => send(answer(status, status === 200 ? SUBSCRIPTION : '')));
  await at.get(`/sub/${KEY}`, 'a');
  at.app.clock.advance(3 * DAY_MS);
  status = 304;
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(304);
  expect((await at.get(`/sub/${KEY}`, 'b')).status).toBe(304);
  const slots = (await at.app.core.store.findDevice('a'))?.installs;
  expect(slots?.map(({ lastSeenAtMs }) => lastSeenAtMs)).toEqual([at.app.clock.nowMs()]);
  expect(await at.links()).toMatchObject([{ count: 1 }]);
});

test('a HWID in the URL is none: everybody who has the link would be one device', async () => {
  const at = await front();
  for (const query of ['hwid=a', 'x-hwid=a', 'device_info=hwid=a']) {
    const got = await at.get(`/sub/${KEY}?${query}`, null);
    expect([got.status, got.headers.get('x-hwid-not-supported')]).toEqual([404, 'true']);
  }
  expect(at.panel.calls).toEqual([]);
});

describe('a device without a HWID', () => {
  const browser = { Accept: 'text/html,application/xhtml+xml' };
  const page = ({ send }: PanelCall) =>
    send(answer(200, '<h1>Panel</h1>', { 'Content-Type': 'Text/HTML; charset=utf-8' }));

  test('is refused, and told that it needs one', async () => {
    const at = await front(page, { refusedStatus: 403 });
    for (const headers of [{}, browser]) {
      const got = await at.get(`/sub/${KEY}`, null, headers);
      expect([got.status, got.headers.get('x-hwid-not-supported')]).toEqual([403, 'true']);
    }
    const malformed = await at.get(`/sub/${KEY}`, 'two,of');
    expect([malformed.status, malformed.headers.get('x-hwid-not-supported')]).toEqual([
      403,
      'true',
    ]);
    expect(at.panel.calls).toEqual([]);
  });

  test('gets the page of the panel if it is a browser and may, and nothing else', async () => {
    const at = await front(
      (question) => (question.target === '/sub/page' ? page : behaveWell)(question),
      {
        browsers: 'pass',
      },
    );
    const got = await at.get('/sub/page', null, browser);
    expect([got.status, got.body]).toEqual([200, '<h1>Panel</h1>']);
    // Only an app is given anything else.
    const other = await at.get('/sub/other', null, browser);
    expect([other.status, other.headers.get('x-hwid-not-supported')]).toEqual([404, 'true']);
    expect(other.body).not.toContain(SUBSCRIPTION.trim());
    expect((await at.get('/sub/page', null)).status).toBe(404);
    expect(await at.links()).toEqual([]);
  });

  test('gets no page of a link that is disabled, or of a binding', async () => {
    const isPage = (question: PanelCall) => question.head.includes('text/html');
    const at = await front(
      (question) => (isPage(question) ? page(question) : behaveWell(question)),
      { browsers: 'pass' },
    );
    const look = async () => {
      const { status, body } = await at.get('/sub/page', null, browser);
      return [status, body.includes('Panel')];
    };
    expect((await at.get('/sub/page', 'a')).status).toBe(200);
    expect(await look()).toEqual([200, true]);
    const { json } = await call(at.app, '/api/list-install', at.own);
    const set = (status: number) =>
      call(at.app, '/api/update-install', at.own, { id: json.data[0].id, status });
    await set(5);
    expect(await look()).toEqual([404, false]);
    await set(10);
    expect(await look()).toEqual([200, true]);
    const domains = await call(at.app, '/api/list-domain', at.own);
    await call(at.app, '/api/delete-domain', at.own, { id: domains.json.data[0].id });
    expect(await look()).toEqual([404, false]);
  });
});

test('HEAD is judged and changes nothing', async () => {
  const at = await front();
  const port = Number(new URL(at.app.url).port);
  const head = (hwid: string) => exchange(port, 'HEAD', `/sub/${KEY}`, { 'x-hwid': hwid });
  const first = await head('a');
  expect([first.status, first.body]).toEqual([200, '']);
  expect(first.headers.get('content-length')).toBe(String(SUBSCRIPTION.length));
  expect(await at.links()).toEqual([]);
  for (const hwid of ['a', 'b', 'c']) await at.get(`/sub/${KEY}`, hwid);
  expect((await head('d')).status).toBe(404);
  expect(at.panel.calls.filter(({ method }) => method === 'HEAD')).toHaveLength(1);
});

test('other methods, bodies and upgrades do not reach the panel', async () => {
  const at = await front();
  const port = Number(new URL(at.app.url).port);
  const device = { 'x-hwid': 'a' };
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
    const got = await exchange(port, method, `/sub/${KEY}`, device);
    // Bun itself answers TRACE.
    if (got.status !== 400)
      expect([got.status, got.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
  const upgrade = { ...device, Connection: 'Upgrade, close', Upgrade: 'websocket' };
  expect((await exchange(port, 'GET', '/device/stream', upgrade)).status).toBe(400);
  expect(at.panel.calls).toEqual([]);
  const body = { ...device, 'Content-Length': '0' };
  expect((await exchange(port, 'GET', `/sub/${KEY}`, body)).status).toBe(200);
  expect(at.panel.calls[0]?.head).not.toMatch(/content-length/i);
});

test('an offer of another protocol is ignored, as it is before the API', async () => {
  const at = await front();
  const port = Number(new URL(at.app.url).port);
  const offer = { Connection: 'Upgrade, HTTP2-Settings, close', Upgrade: 'h2c' };
  const headers = { 'x-hwid': 'a', 'HTTP2-Settings': 'AAMAAABkAAQAAP__', ...offer };
  expect((await exchange(port, 'GET', `/sub/${KEY}`, headers)).status).toBe(200);
  expect(at.panel.calls[0]?.head).not.toMatch(/upgrade|http2-settings/i);
  const own = { ...offer, Host: `127.0.0.1:${port}` };
  expect((await exchange(port, 'GET', '/api/list-install', own)).status).toBe(200);
});

test('every path of the host is the panel’s, every path of another is not', async () => {
  const at = await front(behaveWell, { otherPaths: 'pass' });
  for (const path of ['/install', '/api/list-install', '/openapi.json', '/', '/gate']) {
    expect((await at.get(path, 'a')).body).toBe(SUBSCRIPTION);
  }
  const { json } = await call(at.app, '/api/list-install', at.own);
  expect(json).toEqual({ rc: 1, msg: 'Ok', data: [] });
  expect(at.panel.calls).toHaveLength(5);
});

test('the panel is told what the client sent, and where it comes from', async () => {
  const at = await front();
  const headers = {
    'User-Agent': 'Happ/3.1',
    'X-Forwarded-For': '203.0.113.9',
    'x-device-model': 'Пиксель',
  };
  await at.get(`/sub/${KEY}/clash?b=1&a=%D0%94`, 'a', headers);
  const [first = '', ...lines] = (at.panel.calls[0]?.head ?? '').split('\r\n');
  expect(first).toBe(`GET /sub/${KEY}/clash?b=1&a=%D0%94 HTTP/1.1`);
  const model = Buffer.from('Пиксель').toString('latin1');
  expect(lines.map((line) => line.toLowerCase()).toSorted()).toEqual(
    [
      'Connection: keep-alive',
      `Host: ${HOST}`,
      'user-agent: Happ/3.1',
      'x-forwarded-for: 127.0.0.1',
      `x-forwarded-host: ${HOST}`,
      'x-forwarded-proto: http',
      'x-hwid: a',
      `x-device-model: ${model}`,
      'x-real-ip: 127.0.0.1',
    ]
      .map((line) => line.toLowerCase())
      .toSorted(),
  );
});

test('the panel is told its own host where the operator says so, and no fragment ever', async () => {
  const at = await front(undefined, { hostHeader: 'upstream' });
  for (const tail of ['#x', '?a=1#b?c']) await at.get(`/sub/${KEY}${tail}`, 'a');
  expect(at.panel.calls.map(({ target }) => target)).toEqual([`/sub/${KEY}`, `/sub/${KEY}?a=1`]);
  expect(at.panel.calls[0]?.head).toContain(`host: ${new URL(at.panel.url).host}`);
});

test('so many requests are under way at a time; others wait', async () => {
  const waiting: PanelCall[] = [];
  const at = await front((question) => void waiting.push(question), {
    requestsMax: 4,
    defaultLimit: 9,
  });
  const got = Array.from({ length: 6 }, (_, count) => at.get(`/sub/${KEY}`, `phone-${count}`));
  // One address has half of the places.
  for (let answered = 0; answered < 6; answered++) {
    const question = await until('the panel is asked', () => waiting.shift());
    expect(waiting.length).toBeLessThan(2);
    await behaveWell(question);
  }
  expect((await Promise.all(got)).map(({ status }) => status)).toEqual(Array(6).fill(200));
});

test('an answer that is on its way comes whole, wherever the next one comes from', async () => {
  const asked: PanelCall[] = [];
  const at = await front((question) => void asked.push(question));
  const got = at.get(`/sub/${KEY}`, 'a');
  const question = await until('the panel is asked', () => asked.shift());
  await question.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab');
  await until('the device is let in', async () => (await at.links()).length === 1);
  const other = await startPanel();
  const [upstream] = at.app.settings.gateUpstreams;
  if (upstream === undefined) throw new Error('no upstream');
  at.app.settings.gateUpstreams = [{ ...upstream, url: other.url }];
  expect((await at.get(`/sub/${KEY}`, 'a')).body).toBe(SUBSCRIPTION);
  expect(other.calls).toHaveLength(1);
  await other.stop();
  await question.send('cd');
  expect(await got).toMatchObject({ body: 'abcd', isWhole: true });
});

test('settings change in flight', async () => {
  const at = await front();
  await at.get(`/sub/${KEY}`, 'a');
  const [upstream] = at.app.settings.gateUpstreams;
  if (upstream === undefined) throw new Error('no upstream');
  at.app.settings.gateUpstreams = [{ ...upstream, host: 'new.example.org', refusedStatus: 451 }];
  // What no panel has any more is answered as any path of ours.
  expect((await at.get(`/sub/${KEY}`, 'a')).body).toBe('Not found\n');
  const got = await at.get(`/sub/${KEY}`, 'a', { Host: 'new.example.org' });
  expect(got.status).toBe(451);
  expect(at.panel.calls).toHaveLength(1);
});

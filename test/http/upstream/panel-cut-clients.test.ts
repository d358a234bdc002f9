/** Cut-offs of clients of 3x-ui, of which a subscription may have several. */

import { afterEach, expect, test } from 'bun:test';
import { cutsAt } from '../../support/panel-cuts.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const list = '/panel/api/clients/list/paged';

/** A panel with several clients of one subscription, and others on pages before them. */
function withClients(clients: Record<string, { subId: string; secrets: Record<string, string> }>) {
  const known = new Map(Object.entries(structuredClone(clients)));
  const asked: string[] = [];
  const faults = {
    changes: null as null | string,
    traffic: {} as Record<string, unknown>,
    afterPage() {},
  };
  const answer = (obj: unknown) => Response.json({ success: true, msg: '', obj });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const email = decodeURIComponent(pathname.split('/').at(-1) ?? '');
      asked.push(`${request.method} ${pathname}`);
      if (pathname === list) {
        const wanted = searchParams.get('search');
        const page = Number(searchParams.get('page') ?? 1);
        const all = [...known].filter(([, { subId }]) => wanted === null || subId === wanted);
        const items = all
          .slice((page - 1) * 200, page * 200)
          .map(([name, { subId }]) => ({ email: name, subId }));
        faults.afterPage();
        return answer({ items, filtered: all.length });
      }
      const client = known.get(email);
      if (client === undefined) return Response.json({ success: false, msg: 'none', obj: null });
      if (request.method === 'GET') {
        if (pathname.includes('/traffic/')) return answer({ enable: true, ...faults.traffic });
        const { subId, secrets } = client;
        const none = { uuid: '', password: '', auth: '', secret: '', privateKey: '' };
        const fields = { ...none, ...secrets, email, subId, enable: true, reverse: null, id: 1 };
        return answer({ client: fields, inboundIds: [1], externalLinks: [], usedTraffic: 0 });
      }
      if (faults.changes === email) return Response.json({ success: false, msg: `no ${email}` });
      const { id, password, auth, secret, privateKey } = (await request.json()) as Record<
        string,
        string
      >;
      const sent = { uuid: id, password, auth, secret, privateKey };
      for (const [name, value] of Object.entries(sent)) {
        if (value) client.secrets[name] = value;
      }
      return answer(null);
    },
  });
  stops.push(() => server.stop(true));
  const key = 'the-key-of-a-link';
  const { cut } = cutsAt({
    panel: '3x-ui',
    url: `http://127.0.0.1:${server.port}`,
    link: { key, panelUser: '3x-ui:hash' },
  });
  return { asked, cut, faults, known };
}

const uuid = () => ({ uuid: crypto.randomUUID() });
const ofLink = { subId: 'the-key-of-a-link' };
const others = Object.fromEntries(
  Array.from({ length: 410 }, (_, nth) => [`o${nth}`, { subId: `other-${nth}`, secrets: uuid() }]),
);

test('are found by the hash of the key on a later page, and no other is changed', async () => {
  const { asked, cut, known } = withClients({
    ...others,
    one: { ...ofLink, secrets: uuid() },
    two: { ...ofLink, secrets: { password: 'a-password' } },
  });
  const before = structuredClone(Object.fromEntries(known));
  expect(await cut()).toEqual({ is: 'done', interval: null });
  for (const [name, { secrets }] of known) {
    const isSame = JSON.stringify(secrets) === JSON.stringify(before[name]?.secrets);
    expect([name, isSame]).toEqual([name, !['one', 'two'].includes(name)]);
  }
  const changed = asked.filter((one) => one.startsWith('POST'));
  expect(changed.map((one) => one.split('/').at(-1))).toEqual(['one', 'two']);
});

test('of which one cannot be changed are gone on with, and only that one', async () => {
  const { asked, cut, faults } = withClients({
    one: { ...ofLink, secrets: uuid() },
    two: { ...ofLink, secrets: uuid() },
  });
  faults.changes = 'two';
  const outcome = await cut();
  const seen = outcome.is === 'failed' ? outcome.seen : null;
  expect(outcome).toEqual({
    is: 'failed',
    why: 'the panel answered that it did not do it',
    seen: expect.stringMatching(/^[\da-f]{16} [\da-f]{16}$/),
  });
  faults.changes = null;
  asked.length = 0;
  expect(await cut({ seen })).toEqual({ is: 'done', interval: null });
  const changed = asked.filter((one) => one.startsWith('POST'));
  expect(changed.map((one) => one.split('/').at(-1))).toEqual(['two']);
  expect(await cut({ seen })).toEqual({ is: 'changed_already' });
});

test('get credentials in the form of the old ones', async () => {
  const secrets = {
    password: Buffer.alloc(32, 7).toString('base64'),
    auth: 'a-word',
    secret: `ee${'0a'.repeat(16)}7777772e6578616d706c65`,
    privateKey: Buffer.alloc(32, 8).toString('base64'),
  };
  const { cut, known } = withClients({ one: { ...ofLink, secrets } });
  expect(await cut()).toEqual({ is: 'done', interval: null });
  const renewed = known.get('one')?.secrets ?? {};
  for (const [name, value] of Object.entries(secrets)) expect(renewed[name]).not.toBe(value);
  for (const name of ['password', 'privateKey']) {
    expect(Buffer.from(renewed[name] ?? '', 'base64')).toHaveLength(32);
  }
  expect(renewed['auth']).toMatch(/^[\da-f]{32}$/);
  expect(renewed['secret']).toMatch(/^ee[\da-f]{32}7777772e6578616d706c65$/);
  expect(renewed['uuid']).toBeUndefined();
});

test('that the panel is about to switch off wait', async () => {
  const { asked, cut, faults } = withClients({ one: { ...ofLink, secrets: uuid() } });
  faults.traffic = { enable: false };
  expect(await cut()).toEqual({
    is: 'failed',
    why: 'the panel was changing its users at that moment',
    seen: null,
  });
  expect(asked.filter((one) => one.startsWith('POST'))).toEqual([]);
});

test('that nobody has, have none, or are too many are not changed', async () => {
  const none = withClients(others);
  expect(await none.cut()).toMatchObject({ is: 'impossible' });
  const bare = withClients({ one: { ...ofLink, secrets: {} } });
  expect(await bare.cut()).toEqual({ is: 'impossible', why: 'the user has no credentials' });
  const many = Array.from({ length: 21 }, (_, nth) => [`m${nth}`, { ...ofLink, secrets: uuid() }]);
  const { asked, cut } = withClients(Object.fromEntries(many));
  expect(await cut()).toMatchObject({ is: 'failed', seen: null });
  expect(asked.filter((one) => one.startsWith('POST'))).toEqual([]);
});

test('are not missed where others are deleted meanwhile', async () => {
  const { cut, faults, known } = withClients({ ...others, one: { ...ofLink, secrets: uuid() } });
  for (let nth = 205; nth < 410; nth++) known.delete(`o${nth}`);
  faults.afterPage = () => {
    for (let nth = 0; nth < 30; nth++) known.delete(`o${nth}`);
  };
  expect(await cut()).toEqual({
    is: 'failed',
    why: 'the panel was changing its users at that moment',
    seen: null,
  });
  expect(await cut()).toEqual({ is: 'done', interval: null });
});

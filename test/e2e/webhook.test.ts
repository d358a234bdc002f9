/**
 * Events to webhooks and to a Telegram chat, from the executable to strict receivers: signatures,
 * replays, rotation, answers, blackholes.
 */

import { afterAll, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import type { Credentials } from '../../src/core/provider.ts';
import type { Visit } from '../servers/ledger.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { FORMER_CHAT } from '../servers/telegram.ts';
import { call } from '../support/app.ts';
import type { ServerProcess } from '../support/process.ts';
import { addWebhook, expectNoViolations, openReaching } from '../support/reach.ts';
import { addLink, enter, expectOk } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());
beforeEach(async () => {
  for (const name of ['webhook', 'webhook2', 'telegram'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});

const hookUrl = (name: string, server: 'webhook' | 'webhook2' = 'webhook') =>
  `${servers.origin(server)}/hook/${name}`;

const open = (more: Record<string, string> = {}) =>
  openReaching(servers, {
    GATEPOST_WEBHOOK_TELEGRAM_ENDPOINT: servers.origin('telegram'),
    ...more,
  });

function delivered(
  count: number,
  server: 'webhook' | 'webhook2' | 'telegram' = 'webhook',
): Promise<Visit[]> {
  return until(`${count} deliveries`, async () => {
    const got = (await servers.visits(server)).filter((visit) => visit.delivered);
    return got.length >= count && got;
  });
}

const typeOf = ({ content }: Visit) => (content as { type: string }).type;

async function deliveriesOf(server: ServerProcess, by: Credentials, id: number) {
  const { json } = await expectOk(call(server, '/api/webhook-deliveries', by, { id }));
  return json.data as { id: number; type: string; state: string; problem: string | null }[];
}

test('what happens to a link is told, signed, in order of no secret', async () => {
  const { server, by } = await open();
  const hook = await addWebhook(server, by, { url: hookUrl('story') });
  await servers.setHook('story', [hook.secret]);
  const link = await addLink(server, by, 'SecretCode01', 1);
  await enter(server, 'phone', link.code);
  await until('the refusal', async () => {
    const knock = { id: 'a'.repeat(64), installid: link.code, hwid: 'tablet', os_name: 'android' };
    return (await call(server, '/install', null, knock)).json.rc === 0;
  });
  const got = await delivered(4);
  expect(got.map(typeOf).sort()).toEqual([
    'device.admitted',
    'link.created',
    'link.full',
    'link.refused',
  ]);
  for (const { body, headers, id } of got) {
    const text = Buffer.from(body, 'base64').toString();
    expect(text).not.toContain('SecretCode01');
    expect(text).not.toContain(by.authKey);
    expect(headers['webhook-id']).toBe(id ?? '');
    expect(id).toStartWith('evt_');
  }
  await expectNoViolations(servers);
  expect(server.troubles()).toEqual([]);
});

test('a captured call is refused by the reference receiver when five minutes are over', async () => {
  const { server, by } = await open();
  const hook = await addWebhook(server, by, { url: hookUrl('captured') });
  await servers.setHook('captured', [hook.secret]);
  await addLink(server, by);
  const [captured] = await delivered(1);
  if (captured === undefined) throw new Error('nothing was delivered');
  const body = Buffer.from(captured.body, 'base64').toString();
  const receiver = new Webhook(hook.secret);
  const replay = () => receiver.verify(body, { ...captured.headers });
  expect(replay()).toMatchObject({ type: 'link.created' });
  try {
    setSystemTime(new Date(captured.atMs + 301_000));
    expect(replay).toThrow('Message timestamp too old');
  } finally {
    setSystemTime();
  }
  // Nor can its time be moved: that is signed too.
  const later = {
    ...captured.headers,
    'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 1),
  };
  expect(() => receiver.verify(body, later)).toThrow('No matching signature');
});

test('in the overlap of a rotation the old and the new secret verify, then the new one alone', async () => {
  const { server, by } = await open();
  const first = await addWebhook(server, by, { url: hookUrl('rotated') });
  const rotate = async (hours: number): Promise<string> => {
    const query = { id: first.id, keep_old_hours: hours };
    return (await expectOk(call(server, '/api/webhook-rotate', by, query))).json.secret;
  };
  const second = await rotate(24);
  await servers.setHook('rotated', [first.secret, second]);
  await addLink(server, by, 'LinkCode0001');
  await delivered(1);
  await expectNoViolations(servers);
  const third = await rotate(0);
  await servers.setHook('rotated', [third]);
  await addLink(server, by, 'LinkCode0002');
  const visit = (await delivered(2)).at(-1);
  const body = Buffer.from(visit?.body ?? '', 'base64').toString();
  for (const old of [first.secret, second]) {
    expect(() => new Webhook(old).verify(body, { ...visit?.headers })).toThrow('No matching');
  }
  await expectNoViolations(servers);
});

test('Ed25519: the public key verifies, and a rotation overlaps too', async () => {
  const { server, by } = await open();
  const hook = await addWebhook(server, by, { url: hookUrl('edward'), signature: 'v1a' });
  expect(hook.secret).toBeNull();
  await servers.setHook('edward', [hook.public_key]);
  await addLink(server, by, 'LinkCode0001');
  await delivered(1);
  const query = { id: hook.id, keep_old_hours: 24 };
  const { json } = await expectOk(call(server, '/api/webhook-rotate', by, query));
  await servers.setHook('edward', [hook.public_key, json.public_key]);
  await addLink(server, by, 'LinkCode0002');
  await delivered(2);
  await expectNoViolations(servers);
});

test('410 disables at once, with a line that says so; enabled again, it is told again', async () => {
  const { server, by } = await open();
  const hook = await addWebhook(server, by, { url: hookUrl('gone') });
  await servers.setHook('gone', [hook.secret]);
  await servers.behave('webhook', { next: [{ kind: 'refuse', name: '410' }] });
  await addLink(server, by, 'LinkCode0001');
  const shown = await until('the end of it', async () => {
    const { json } = await expectOk(call(server, '/api/webhook-list', by));
    return json.data[0].disabled_at !== null && json.data[0];
  });
  expect(shown.disabled_why).toContain('410');
  await addLink(server, by, 'LinkCode0002');
  expect((await servers.totals('webhook')).requests).toBe(1);

  await expectOk(call(server, '/api/webhook-update', by, { id: hook.id, enabled: 1 }));
  const since = '2020-01-01 00:00:00';
  await expectOk(call(server, '/api/webhook-replay', by, { id: hook.id, since }));
  const types = new Set((await delivered(1)).map(typeOf));
  expect(types).toContain('link.created');
  await expectNoViolations(servers);
});

test('a replay has the id of the first call, and a time of its own', async () => {
  const { server, by } = await open();
  const hook = await addWebhook(server, by, { url: hookUrl('again') });
  await servers.setHook('again', [hook.secret]);
  await addLink(server, by);
  const [first] = await delivered(1);
  const [{ id: eventId = 0 } = {}] = await until('the delivery', async () => {
    const all = await deliveriesOf(server, by, hook.id);
    return all[0]?.state === 'delivered' && all;
  });
  await expectOk(call(server, '/api/webhook-replay', by, { id: hook.id, event_id: eventId }));
  const [, second] = await delivered(2);
  expect(second?.id).toBe(first?.id ?? '');
  expect(second?.body).toBe(first?.body ?? '');
  await expectNoViolations(servers);
});

test('a webhook that never answers holds up neither the others nor the API', async () => {
  const { server, by } = await open();
  const dead = await addWebhook(server, by, { url: hookUrl('dead', 'webhook2') });
  const well = await addWebhook(server, by, { url: hookUrl('well') });
  await servers.setHook('dead', [dead.secret]);
  await servers.setHook('well', [well.secret]);
  await servers.behave('webhook2', { always: { kind: 'blackhole' } });
  const startMs = performance.now();
  for (let n = 0; n < 20; n++) await addLink(server, by, null);
  await delivered(20);
  // Far less than one call to the other is waited for.
  expect(performance.now() - startMs).toBeLessThan(14_000);
  const { underWay, deliveries } = await servers.totals('webhook2');
  expect(deliveries).toBe(0);
  expect(underWay).toBeLessThanOrEqual(4);
  await expectNoViolations(servers);
});

test('a Telegram chat is told in its language', async () => {
  const { server, by } = await open();
  const { chat, botToken } = servers.telegram;
  await addWebhook(server, by, { chat, bot_token: botToken, locale: 'ru' });
  await addLink(server, by);
  const [visit] = await delivered(1, 'telegram');
  expect(JSON.stringify(visit?.content)).toMatch(/[а-я]/i);
  await expectNoViolations(servers);
  expect(server.stderr()).not.toContain(botToken);
});

test('a group that became a supergroup is followed; a chat that is gone, or shut, is disabled', async () => {
  const { server, by } = await open();
  const { chat, botToken } = servers.telegram;
  const listed = async (): Promise<Record<string, string | null>[]> =>
    (await expectOk(call(server, '/api/webhook-list', by))).json.data;
  const add = (id: string) => addWebhook(server, by, { chat: id, bot_token: botToken });
  await add(`${FORMER_CHAT}/7`);
  await addLink(server, by, 'LinkCode0001');
  await delivered(1, 'telegram');
  // Its topic stays.
  expect(await listed()).toMatchObject([{ chat: `${chat}/7`, disabled_at: null }]);
  // The other chat is told of each that dies.
  await add('-999');
  await addLink(server, by, 'LinkCode0002');
  await delivered(3, 'telegram');
  expect(await listed()).toMatchObject([
    {
      disabled_why:
        'Telegram answered 400: there is no such chat, or the bot never was in it: add the bot to the chat, or set another chat',
    },
    { disabled_at: null },
  ]);
  await servers.behave('telegram', { next: [{ kind: 'refuse', name: 'topic-closed' }] });
  await addLink(server, by, 'LinkCode0003');
  await until('the end of it', async () => (await listed())[1]?.['disabled_at'] != null);
  expect((await listed())[1]?.['disabled_why']).toBe(
    'Telegram answered 400: the topic is closed: open it again, or let the bot manage topics',
  );
  await expectNoViolations(servers);
});

test('an address that a stranger may not have called, and a name that leads to one', async () => {
  const { server, by } = await open({ GATEPOST_OUTGOING_ALLOW: '' });
  for (const [scheme, rest] of [
    ['http', '169.254.169.254/latest/meta-data'],
    ['https', '2852039166/'],
    ['https', '[::ffff:a9fe:a9fe]/'],
    ['https', '[64:ff9b::a9fe:a9fe]/'],
    ['https', '10.0.0.1/hook'],
    ['https', '0x7f.1/'],
  ]) {
    const url = `${scheme}://${rest}`;
    const { json } = await call(server, '/api/webhook-add', by, { url });
    expect([url, json.rc]).toEqual([url, 0]);
  }
  const url = `${servers.origin('webhook', 'localhost')}/hook/home`;
  const { json } = await call(server, '/api/webhook-add', by, { url });
  if (json.rc === 1) {
    const tried = await call(server, '/api/webhook-test', by, { id: json.id });
    expect(tried.json).toMatchObject({ rc: 0 });
  }
  expect((await servers.totals('webhook')).requests).toBe(0);
});

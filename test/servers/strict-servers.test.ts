/** The strict servers themselves: what they take, refuse and do on command. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createECDH, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { encrypt } from 'http_ece';
import { Webhook } from 'standardwebhooks';
import type { ServerName } from './serve.ts';
import { type StrictServers, startStrictServers } from './strict-servers.ts';

let servers: StrictServers;
const DEVICE = 'ab'.repeat(32);

beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());
beforeEach(async () => {
  for (const name of ['fcm', 'apns', 'webhook'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});

function jwt(header: object, claims: object, key: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part(header)}.${part(claims)}`;
  const options = { key: createPrivateKey(key), dsaEncoding: 'ieee-p1363' as const };
  return `${text}.${sign('sha256', Buffer.from(text), options).toString('base64url')}`;
}

function post(
  url: string,
  headers: Record<string, string>,
  body: string | Buffer,
  init: { protocol?: 'http2'; signal?: AbortSignal } = { protocol: 'http2' },
) {
  const tls = { ca: servers.ca };
  const fixed = { method: 'POST', redirect: 'manual', tls } as const;
  return fetch(url, { ...fixed, headers, body, ...init } as RequestInit);
}

const nowS = () => Math.floor(Date.now() / 1000);

async function accessToken(): Promise<string> {
  const reply = await exchange(servers.fcm.serviceAccountFile);
  return ((await reply.json()) as { access_token: string }).access_token;
}

async function exchange(file: string): Promise<Response> {
  const account = JSON.parse(readFileSync(file, 'utf8'));
  const claims = {
    iss: account.client_email,
    // In parts: the test of addresses lets in those alone that the product calls.
    scope: ['https:', '', 'www.googleapis.com', 'auth', 'firebase.messaging'].join('/'),
    aud: account.token_uri,
    iat: nowS(),
    exp: nowS() + 3600,
  };
  const assertion = jwt({ alg: 'RS256', typ: 'JWT' }, claims, account.private_key);
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return post(account.token_uri, headers, new URLSearchParams(form).toString());
}

async function sendFcm(message: object, bearer: string): Promise<Response> {
  const url = `${servers.origin('fcm')}/v1/projects/${servers.fcm.project}/messages:send`;
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  return post(url, headers, JSON.stringify({ message }));
}

function sendApns(headers: Record<string, string> = {}, payload: object = { aps: { alert: 'x' } }) {
  const { keyFile, keyId, teamId, topic } = servers.apns;
  const key = readFileSync(keyFile, 'utf8');
  // One provider token for the whole run, as Apple asks for.
  bearer ??= jwt({ alg: 'ES256', kid: keyId }, { iss: teamId, iat: nowS() }, key);
  const own = { authorization: `bearer ${bearer}`, 'apns-topic': topic, 'apns-push-type': 'alert' };
  const all = { ...own, ...headers };
  return post(`${servers.origin('apns')}/3/device/${DEVICE}`, all, JSON.stringify(payload));
}
let bearer: string | undefined;

test('FCM takes what is right, and counts it by receiver and collapse key', async () => {
  const token = await accessToken();
  const message = { token: 'phone-1', data: { id: '7' }, android: { collapse_key: '7' } };
  expect((await sendFcm(message, token)).status).toBe(200);
  expect((await sendFcm(message, token)).status).toBe(200);
  expect(await servers.deliveries('fcm')).toEqual([['phone-1', '7', 2]]);
  expect((await servers.totals('fcm')).protocols).toEqual({ h2: 3 });
  await servers.expireAccessTokens();
  expect((await sendFcm(message, token)).status).toBe(401);
  expect((await servers.totals('fcm')).violations).toEqual([]);
});

test.each([
  ['an unknown field', { token: 'a', datas: {} }],
  ['data that is no text', { token: 'a', data: { id: 7 } }],
  ['a reserved key', { token: 'a', data: { from: 'x' } }],
  ['a life beyond four weeks', { token: 'a', android: { ttl: '2419201s' } }],
  ['more than 4096 bytes', { token: 'a', data: { text: 'x'.repeat(4093) } }],
])('FCM refuses %s, and notes it', async (_, message) => {
  const token = await accessToken();
  expect((await sendFcm(message, token)).status).toBe(400);
  const { violationCount, deliveries } = await servers.totals('fcm');
  expect([violationCount, deliveries]).toEqual([1, 0]);
});

test('FCM gives no access token to a key that it does not know', async () => {
  const reply = await exchange(servers.fcm.wrongServiceAccountFile);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: 'invalid_grant' });
});

test('APNs delivers by token and id', async () => {
  const id = crypto.randomUUID();
  const reply = await sendApns({ 'apns-id': id, 'apns-collapse-id': '7' });
  expect([reply.status, reply.headers.get('apns-id')]).toEqual([200, id]);
  expect(await servers.deliveries('apns')).toEqual([[DEVICE, `${id} 7`, 1]]);
});

test.each([
  ['another topic', { 'apns-topic': 'com.example.other' }, 400, 'TopicDisallowed'],
  ['no kind of push', { 'apns-push-type': 'news' }, 400, 'InvalidPushType'],
  ['a silent push in a hurry', { 'apns-push-type': 'background' }, 400, 'BadPriority'],
  ['an id that is none', { 'apns-id': '7' }, 400, 'BadMessageId'],
  ['a long collapse id', { 'apns-collapse-id': 'x'.repeat(65) }, 400, 'BadCollapseId'],
  ['no token', { authorization: 'none' }, 403, 'MissingProviderToken'],
])('APNs refuses %s', async (_, headers, status, reason) => {
  const reply = await sendApns(headers);
  expect([reply.status, await reply.json()]).toEqual([status, { reason }]);
});

test('APNs refuses a second provider token within twenty minutes', async () => {
  expect((await sendApns()).status).toBe(200);
  const { keyFile, keyId, teamId } = servers.apns;
  const claims = { iss: teamId, iat: nowS() + 1 };
  const other = jwt({ alg: 'ES256', kid: keyId }, claims, readFileSync(keyFile, 'utf8'));
  const reply = await sendApns({ authorization: `bearer ${other}` });
  expect([reply.status, await reply.json()]).toEqual([
    429,
    { reason: 'TooManyProviderTokenUpdates' },
  ]);
});

test('a webhook is verified by the reference receiver, with each of its secrets', async () => {
  const secrets = ['whsec_b2xkLXNlY3JldA==', 'whsec_bmV3LXNlY3JldA=='];
  await servers.setHook('shop', secrets);
  const body = JSON.stringify({
    type: 'link.created',
    timestamp: new Date().toISOString(),
    data: {},
  });
  const send = (id: string, atS: number, by: string[]) => {
    const signed = by.map((secret) => new Webhook(secret).sign(id, new Date(atS * 1000), body));
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(atS),
      'webhook-signature': signed.join(' '),
    };
    return post(`${servers.origin('webhook')}/hook/shop`, headers, body, {});
  };
  expect((await send('evt_1', nowS(), secrets)).status).toBe(204);
  expect((await send('evt_2', nowS(), secrets.slice(1))).status).toBe(401);
  expect((await send('evt_1', nowS() - 301, secrets)).status).toBe(401);
  expect(await servers.deliveries('webhook')).toEqual([['shop', 'evt_1', 1]]);
});

test('a push service decrypts what came, and knows the sender by its key', async () => {
  const [subscription] = await servers.subscribe(1);
  if (subscription === undefined) throw new Error('no subscription');
  const { endpoint, keys } = subscription;
  const vapid = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = vapid.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const spki = vapid.publicKey.export({ type: 'spki', format: 'der' });
  const claims = { aud: servers.origin('webpush'), exp: nowS() + 600, sub: 'mailto:a@example.com' };
  const key = spki.subarray(-65).toString('base64url');
  const send = (audience: string) => {
    const token = jwt({ alg: 'ES256', typ: 'JWT' }, { ...claims, aud: audience }, pem);
    const own = createECDH('prime256v1');
    own.generateKeys();
    const body = encrypt(Buffer.from('{"id":7}'), {
      version: 'aes128gcm',
      privateKey: own,
      dh: keys.p256dh,
      authSecret: keys.auth,
    });
    const headers = {
      authorization: `vapid t=${token}, k=${key}`,
      ttl: '60',
      'content-encoding': 'aes128gcm',
    };
    return post(endpoint, headers, body, {});
  };
  expect((await send(claims.aud)).status).toBe(201);
  const to = endpoint.split('/').at(-1) ?? '';
  expect(await servers.deliveries('webpush')).toEqual([[to, '7', 1]]);
  expect((await send('https://push.example.com')).status).toBe(403);
  await servers.bindSubscriptions('webpush', 'another-key');
  expect((await send(claims.aud)).status).toBe(403);
});

test.each([
  ['<b>Link</b> &amp; more', 200],
  ['<b>Link', 400],
  ['a < b', 400],
  ['x'.repeat(4097), 400],
])('Telegram reads HTML as the Bot API does: %.20s', async (text, status) => {
  const { botToken, chat } = servers.telegram;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ chat_id: chat, text, parse_mode: 'HTML' });
  const url = `${servers.origin('telegram')}/bot${botToken}/sendMessage`;
  expect((await post(url, headers, body, {})).status).toBe(status);
});

const MISDEEDS = [
  [{ kind: 'refuse', name: '503', retryAfter: '2', delivers: true }, 503, 1],
  [{ kind: 'refuse', name: '429' }, 429, 0],
  [{ kind: 'answer', status: 302, headers: { location: 'https://example.com/' } }, 302, 0],
] as const;

test.each(MISDEEDS)('on command: %j', async (misdeed, status, deliveries) => {
  await servers.behave('apns', { next: [misdeed] });
  expect((await sendApns()).status).toBe(status);
  expect((await servers.totals('apns')).deliveries).toBe(deliveries);
  expect((await sendApns()).status).toBe(200);
});

test.each([
  [{ kind: 'goaway' }, 0],
  [{ kind: 'reset-stream', delivers: true }, 1],
  [{ kind: 'reset-connection' }, 0],
] as const)('on command, and nothing is answered: %j', async (misdeed, deliveries) => {
  await servers.behave('apns', { next: [misdeed] });
  const reply = await sendApns()
    .then((answer) => answer.text())
    .catch(() => 'failed');
  // A client may send again by itself what a GOAWAY says was not served.
  if (misdeed.kind !== 'goaway') expect(reply).toBe('failed');
  const { answers, deliveries: counted } = await servers.totals('apns');
  expect(answers[misdeed.kind]).toBe(1);
  expect(counted - (answers['200'] ?? 0)).toBe(deliveries);
});

test.each(['blackhole', 'drip'] as const)(
  'on command: %s, until the client gives up',
  async (kind) => {
    await servers.behave('fcm', {
      always: { kind, everyMs: 20 } as { kind: 'drip'; everyMs: number },
    });
    const { token_uri: url } = JSON.parse(readFileSync(servers.fcm.serviceAccountFile, 'utf8'));
    const gone = post(url, {}, '', { signal: AbortSignal.timeout(300) }).then((answer) =>
      answer.text(),
    );
    expect(gone).rejects.toThrow();
  },
);

test('a refusal that a service never gives is none to be had here', async () => {
  const behaving = servers.behave('apns', { next: [{ kind: 'refuse', name: '418' }] });
  expect(behaving).rejects.toThrow('APNs never answers 418');
});

test('a certificate of another name is refused by a client that looks', async () => {
  const refused = post(`${servers.origin('otherName')}/token`, {}, '', {});
  expect(refused).rejects.toThrow();
});

test.each<ServerName>(['fcm', 'webhook'])(
  '%s: every connection is reset at a word',
  async (name) => {
    await servers.behave(name, { always: { kind: 'blackhole' } });
    const hanging = post(`${servers.origin(name)}/x`, {}, '', {});
    hanging.catch(() => {});
    while ((await servers.totals(name)).answers['blackhole'] !== 1) await Bun.sleep(1);
    await servers.resetConnections(name);
    expect(hanging).rejects.toThrow();
  },
);

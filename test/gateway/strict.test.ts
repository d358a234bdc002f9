/** Gateways against strict servers, which verify signatures and decrypt what arrives. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import type { AttemptVerdict, Gateway } from '../../src/core/outbox/carrier.ts';
import type { PushAddress } from '../../src/core/port/registration.ts';
import { apnsId } from '../../src/gateway/apns.ts';
import { type GatewaySet, makeGateways } from '../../src/gateway/gateways.ts';
import type { Outgoing } from '../../src/outgoing/outgoing.ts';
import type { Misdeed } from '../servers/misdeed.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { freshFolder } from '../support/app.ts';
import { commandAt, contentAt, NEVER, outgoingTo, settingsFor } from '../support/gateway.ts';

const NAMES = ['fcm', 'apns', 'webpush'] as const;
const DEVICE = 'ab'.repeat(32);
const PHONE: PushAddress = { gateway: 'fcm', token: 'phone-1' };
const IPHONE: PushAddress = { gateway: 'apns', token: DEVICE };

let servers: StrictServers;
let outgoing: Outgoing;
let gateways: GatewaySet;
const dataDir = freshFolder();

beforeAll(async () => {
  servers = await startStrictServers();
  outgoing = outgoingTo(servers, systemClock);
  gateways = makeGateways(settingsFor(servers, dataDir), { outgoing, clock: systemClock });
  await servers.bindSubscriptions('webpush', gateways.pushKey);
});
afterAll(async () => {
  outgoing.close();
  await servers.stop();
  rmSync(dataDir, { recursive: true });
});
beforeEach(async () => {
  for (const name of NAMES) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});

function gateway(name: PushAddress['gateway']): Gateway {
  const found = gateways.all[name];
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

async function browser(): Promise<PushAddress> {
  const [subscription] = await servers.subscribe(1);
  if (subscription === undefined) throw new Error('no subscription');
  return { gateway: 'webpush', token: subscription };
}

const addressAt = { fcm: async () => PHONE, apns: async () => IPHONE, webpush: browser };

/** Sends once; `last` is how the server saw it. */
async function push(name: PushAddress['gateway'], content = contentAt(Date.now())) {
  const verdict = await gateway(name).send(await addressAt[name](), content, NEVER);
  const last = (await servers.visits(name)).at(-1);
  return { verdict, content: last?.content as Record<string, unknown>, headers: last?.headers };
}

async function noBreaches(name: PushAddress['gateway']): Promise<void> {
  expect((await servers.totals(name)).violations).toEqual([]);
}

const ACCEPTED: AttemptVerdict = { verdict: 'accepted' };

describe('FCM', () => {
  test('a notification, urgent', async () => {
    const { verdict, content } = await push('fcm');
    expect(verdict).toEqual(ACCEPTED);
    expect(content).toMatchObject({
      token: 'phone-1',
      notification: { title: 'News', body: 'Hello', image: 'https://img.example/1.png' },
      data: { id: '7', kind: 'notification', link: 'https://news.example/1' },
      android: {
        collapse_key: '7',
        priority: 'high',
        notification: { tag: '7', sound: 'default' },
      },
      apns: { headers: { 'apns-priority': '10', 'apns-push-type': 'alert' } },
      webpush: { headers: { Urgency: 'high', Topic: '7' } },
    });
    const { ttl } = content['android'] as { ttl: string };
    expect(Number.parseInt(ttl, 10)).toBeWithin(3_590, 3_601);
    expect(await servers.deliveries('fcm')).toEqual([['phone-1', '7', 1]]);
    await noBreaches('fcm');
  });

  test('a command is data alone', async () => {
    const { verdict, content } = await push('fcm', commandAt(Date.now()));
    expect(verdict).toEqual(ACCEPTED);
    expect(content['data']).toEqual({ id: '7', kind: 'command' });
    expect(content['notification']).toBeUndefined();
    expect(content['android']).toMatchObject({ priority: 'normal' });
    expect(content).toMatchObject({
      apns: { headers: { 'apns-priority': '5', 'apns-push-type': 'background' } },
      webpush: { headers: { Urgency: 'normal' } },
    });
    expect((content['android'] as object) && 'notification' in (content['android'] as object)).toBe(
      false,
    );
    await noBreaches('fcm');
  });

  test('what is kept for longer than four weeks is held for four', async () => {
    const content = contentAt(Date.now(), { expiresAtMs: Date.now() + 365 * 86_400_000 });
    expect((await push('fcm', content)).verdict).toEqual(ACCEPTED);
    await noBreaches('fcm');
  });

  test('an access token that has expired is fetched anew: the push goes out with the next try', async () => {
    expect((await push('fcm')).verdict).toEqual(ACCEPTED);
    await servers.expireAccessTokens();
    expect((await push('fcm')).verdict).toMatchObject({ verdict: 'retry', afterMs: 0 });
    expect((await push('fcm')).verdict).toEqual(ACCEPTED);
  });

  test('a notification names the channel that is set', async () => {
    const settings = { ...settingsFor(servers, dataDir), fcmChannelId: 'news' };
    const set = makeGateways(settings, { outgoing, clock: systemClock });
    expect(await set.all.fcm?.send(PHONE, contentAt(Date.now()), NEVER)).toEqual(ACCEPTED);
    const visit = (await servers.visits('fcm')).at(-1);
    expect(visit?.content).toMatchObject({ android: { notification: { channel_id: 'news' } } });
    await noBreaches('fcm');
  });

  test('64 pushes at once fetch one access token', async () => {
    const fresh = makeGateways(settingsFor(servers, dataDir), { outgoing, clock: systemClock });
    const content = contentAt(Date.now());
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        fresh.all.fcm?.send({ gateway: 'fcm', token: `phone-${n}` }, content, NEVER),
      ),
    );
    expect(all.every((one) => one?.verdict === 'accepted')).toBe(true);
    const { requests, deliveries } = await servers.totals('fcm');
    expect([requests, deliveries]).toEqual([65, 64]);
  });

  test('a service account that FCM does not know: our credentials are wrong', async () => {
    const fcmServiceAccount = servers.fcm.wrongServiceAccountFile;
    const wrong = makeGateways(
      { ...settingsFor(servers, dataDir), fcmServiceAccount },
      { outgoing, clock: systemClock },
    );
    const verdict = await wrong.all.fcm?.send(PHONE, contentAt(Date.now()), NEVER);
    expect(verdict).toEqual({
      verdict: 'credentials',
      problem:
        'Google refuses an access token for the service account (400 invalid_grant: Invalid JWT Signature.): its key may be revoked, or the clock of this machine may be wrong',
    });
  });
});

describe('APNs', () => {
  test('a notification, urgent', async () => {
    const atMs = Date.now();
    const { verdict, content, headers } = await push('apns', contentAt(atMs));
    expect(verdict).toEqual(ACCEPTED);
    expect(content).toEqual({
      aps: { alert: { title: 'News', body: 'Hello' }, 'mutable-content': 1, sound: 'default' },
      id: 7,
      kind: 'notification',
      link: 'https://news.example/1',
      image: 'https://img.example/1.png',
    });
    expect(headers).toMatchObject({
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-collapse-id': '7',
      'apns-topic': servers.apns.topic,
      'apns-id': apnsId(7, DEVICE),
    });
    expect(headers?.['apns-expiration']).toBe(String(Math.floor(atMs / 1000) + 3_600));
    await noBreaches('apns');
  });

  test('another key is taken at once, over a connection of its own', async () => {
    expect((await push('apns')).verdict).toEqual(ACCEPTED);
    const { keyFile: apnsKeyFile, keyId: apnsKeyId } = servers.apns.other;
    const settings = { ...settingsFor(servers, dataDir), apnsKeyFile, apnsKeyId };
    const rotated = makeGateways(settings, { outgoing, clock: systemClock });
    const address = { gateway: 'apns', token: DEVICE } as const;
    for (let n = 0; n < 3; n++) {
      expect(await rotated.all.apns?.send(address, contentAt(Date.now()), NEVER)).toEqual(ACCEPTED);
    }
    await noBreaches('apns');
  });

  test('an optional one has no sound and no hurry', async () => {
    const { content, headers } = await push('apns', contentAt(Date.now(), { isUrgent: false }));
    expect(headers?.['apns-priority']).toBe('5');
    expect(content['aps']).not.toHaveProperty('sound');
    await noBreaches('apns');
  });

  test('a command is silent', async () => {
    const { verdict, content, headers } = await push('apns', commandAt(Date.now()));
    expect(verdict).toEqual(ACCEPTED);
    expect(content).toEqual({ aps: { 'content-available': 1 }, id: 7, kind: 'command' });
    expect(headers).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    await noBreaches('apns');
  });

  test('a thousand pushes are signed once', async () => {
    const content = contentAt(Date.now());
    for (let n = 0; n < 10; n++) {
      const all = Array.from({ length: 100 }, () => gateway('apns').send(IPHONE, content, NEVER));
      expect((await Promise.all(all)).every(({ verdict }) => verdict === 'accepted')).toBe(true);
    }
    const signed = (await servers.visits('apns')).map(({ headers }) => headers['authorization']);
    expect(new Set(signed).size).toBe(1);
    await noBreaches('apns');
  });

  test('the id of a message holds that of the distribution, and tells devices apart', () => {
    expect(apnsId(0xabc, DEVICE)).toEndWith('-000000000abc');
    expect(apnsId(7, DEVICE)).toBe(apnsId(7, DEVICE));
    expect(apnsId(7, DEVICE)).not.toBe(apnsId(7, 'cd'.repeat(32)));
    expect(apnsId(Number.MAX_SAFE_INTEGER, DEVICE)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});

describe('Web Push', () => {
  test('a notification, which the user agent alone can read', async () => {
    const { verdict, content, headers } = await push('webpush');
    expect(verdict).toEqual(ACCEPTED);
    expect(content).toEqual({
      id: 7,
      kind: 'notification',
      title: 'News',
      body: 'Hello',
      link: 'https://news.example/1',
      image: 'https://img.example/1.png',
      urgent: true,
    });
    expect(headers).toMatchObject({ urgency: 'high', topic: '7', 'content-encoding': 'aes128gcm' });
    expect(Number(headers?.['ttl'])).toBeWithin(3_590, 3_601);
    await noBreaches('webpush');
  });

  test('a command', async () => {
    const { content, headers } = await push('webpush', commandAt(Date.now()));
    expect(content).toEqual({ id: 7, kind: 'command' });
    expect(headers?.['urgency']).toBe('normal');
    await noBreaches('webpush');
  });

  test('the longest message fits', async () => {
    const body = 'я'.repeat(5_000);
    const { verdict, content } = await push('webpush', contentAt(Date.now(), { body }));
    expect(verdict).toEqual(ACCEPTED);
    expect(content['body']).toEndWith('я…');
    await noBreaches('webpush');
  });

  test('a subscription that has ended is dead', async () => {
    const address = await browser();
    const { endpoint } = address.token as { endpoint: string };
    await servers.behave('webpush', { next: [{ kind: 'refuse', name: '410' }] });
    expect(await gateway('webpush').send(address, contentAt(Date.now()), NEVER)).toEqual({
      verdict: 'dead',
      problem: 'the subscription was ended (410)',
    });
    expect(endpoint).toStartWith('https://127.0.0.1');
  });
});

const OUTAGES: [string, Misdeed][] = [
  ['an outage', { kind: 'refuse', name: '503' }],
  ['an outage behind a delivery', { kind: 'refuse', name: '503', delivers: true }],
  ['an answer that breaks off behind its status', { kind: 'reset-stream' }],
  ['an answer without end', { kind: 'huge', bytes: 5_000_000 }],
  ['a page of a proxy in its place', { kind: 'answer', status: 302, body: '<html>' }],
];

describe.each(NAMES)('%s', (name) => {
  test('the whole message travels if the operator lets it, and if it fits', async () => {
    const message = { id: 7, notification_type: 20, payload: { action_type: 'x' } };
    const command = { ...commandAt(Date.now()), inboxMessage: JSON.stringify(message) };
    const { verdict, content } = await push(name, command);
    expect(verdict).toEqual(ACCEPTED);
    // FCM carries texts alone.
    const data = content['data'] as { message?: string } | undefined;
    expect(name === 'fcm' ? JSON.parse(data?.message ?? '') : content['message']).toEqual(message);
    const large = {
      ...command,
      inboxMessage: JSON.stringify({ ...message, more: 'x'.repeat(4096) }),
    };
    const sent = await push(name, large);
    expect(sent.verdict).toEqual(ACCEPTED);
    expect(JSON.stringify(sent.content)).not.toContain('message');
    await noBreaches(name);
  });

  test.each(OUTAGES)('%s: later', async (_, misdeed) => {
    await servers.behave(name, { next: [misdeed] });
    const { verdict } = await push(name);
    expect(verdict.verdict).toBe('retry');
    expect((await push(name)).verdict).toEqual(ACCEPTED);
  });

  test('Retry-After is handed on', async () => {
    await servers.behave(name, { next: [{ kind: 'refuse', name: '429', retryAfter: '17' }] });
    expect((await push(name)).verdict).toMatchObject({ verdict: 'wait', afterMs: 17_000 });
  });

  test('a connection that is reset costs nothing but another try', async () => {
    await push(name);
    await servers.behave(name, { next: [{ kind: 'reset-connection' }] });
    const { verdict } = await push(name);
    // One that lay idle may have been closed meanwhile: the client tries at once by a new one.
    expect(['retry', 'accepted']).toContain(verdict.verdict);
    if (verdict.verdict === 'retry') expect((await push(name)).verdict).toEqual(ACCEPTED);
    expect((await servers.totals(name)).deliveries).toBe(2);
  });

  test('stopped, while it waits for an answer', async () => {
    await servers.behave(name, { next: [{ kind: 'blackhole' }] });
    const stop = new AbortController();
    const sending = gateway(name).send(await addressAt[name](), contentAt(Date.now()), stop.signal);
    setImmediate(() => stop.abort());
    expect(await sending).toMatchObject({ verdict: 'retry', afterMs: null });
  });
});

/** Both senders of events against strict servers: signatures, HTML, misdeeds on command. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Core } from '../../src/core/core.ts';
import { readNetwork } from '../../src/core/outbox/address.ts';
import type { AttemptVerdict, EventSenders } from '../../src/core/outbox/carrier.ts';
import type { StoredEvent } from '../../src/core/port/event.ts';
import type { Webhook } from '../../src/core/port/webhook.ts';
import { tryWebhook } from '../../src/core/webhook.ts';
import { USUAL_WEBHOOK } from '../../src/core/webhook-fields.ts';
import { newWebhookSecret, verifyingKey } from '../../src/core/webhook-key.ts';
import { OutgoingFailure } from '../../src/outgoing/call.ts';
import { Outgoing } from '../../src/outgoing/outgoing.ts';
import { makeEventSenders } from '../../src/webhook/senders.ts';
import { StandardSender } from '../../src/webhook/standard.ts';
import type { Misdeed } from '../servers/misdeed.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { NO_PROXIES } from '../support/outgoing-proxy.ts';

const { nowMs } = systemClock;
const LOOPBACK = readNetwork('127.0.0.0/8');
const settings = {
  ...NO_PROXIES,
  outgoingAllow: LOOPBACK === null ? [] : [LOOPBACK],
  outgoingAllowHttp: false,
  outgoingOriginRate: 100_000,
  myPath: '/my',
  myUrl: 'https://gatepost.example.org',
  telegramEndpoint: '',
};

let servers: StrictServers;
let outgoing: Outgoing;
let eventSenders: EventSenders;
beforeAll(async () => {
  servers = await startStrictServers();
  settings.telegramEndpoint = servers.origin('telegram');
  outgoing = new Outgoing({
    settings,
    clock: systemClock,
    files: { ca: servers.ca, logins: new Map() },
  });
  eventSenders = makeEventSenders(settings, outgoing, () => settings.myUrl || null);
});
afterAll(async () => {
  outgoing.close();
  await servers.stop();
});
beforeEach(async () => {
  for (const name of ['webhook', 'telegram'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});

const EVENT: StoredEvent = {
  id: 7,
  providerId: 1,
  kind: 'device.admitted',
  atMs: Date.UTC(2026, 10, 20, 12),
  data: { install_id: 3, install_count: 1, install_limit: 2, hwid: 'a<b>&"c' },
};

function hook(secret: string, more: Partial<Webhook> = {}): Webhook {
  const scheme = secret.startsWith('whsk_') ? 'v1a' : 'v1';
  const url = `${servers.origin('webhook')}/hook/shop`;
  return {
    id: 1,
    providerId: 1,
    target: { kind: 'webhook', url, scheme },
    ...USUAL_WEBHOOK,
    secret,
    previous: null,
    createdAtMs: 0,
    disabled: null,
    ...more,
  };
}

function chat(more: Partial<Webhook> = {}): Webhook {
  const { botToken, chat: id } = servers.telegram;
  const target = { kind: 'telegram', chat: id, locale: 'fa', shows: ['phone'] } as const;
  return hook(botToken, { target, ...more });
}

const never = new AbortController().signal;
const deliver = (webhook: Webhook, event = EVENT): Promise<AttemptVerdict> =>
  eventSenders[webhook.target.kind].deliver(webhook, event, nowMs(), never);

async function expectNoViolations(name: 'webhook' | 'telegram'): Promise<void> {
  expect((await servers.totals(name)).violations).toEqual([]);
}

describe('a webhook', () => {
  test.each(['v1', 'v1a'] as const)('takes an event that is signed by %s', async (scheme) => {
    const secret = newWebhookSecret(scheme);
    await servers.setHook('shop', [verifyingKey(secret)]);
    expect(await deliver(hook(secret))).toEqual({ verdict: 'accepted' });
    await expectNoViolations('webhook');
    const [visit] = await servers.visits('webhook');
    expect(visit).toMatchObject({
      id: 'evt_7_mwoxfuo0',
      headers: { 'content-type': 'application/json' },
      content: { type: 'device.admitted', timestamp: '2026-11-20T12:00:00.000Z', data: EVENT.data },
    });
    expect(visit?.headers['user-agent']).toMatch(/^Gatepost\/\d/);
  });

  test('is sent both signatures while an old secret is good', async () => {
    const [old, fresh] = [newWebhookSecret('v1'), newWebhookSecret('v1')];
    await servers.setHook('shop', [old, fresh]);
    const previous = { secret: old, untilMs: nowMs() + 60_000 };
    expect(await deliver(hook(fresh, { previous }))).toEqual({ verdict: 'accepted' });
    await expectNoViolations('webhook');
    const over = { secret: old, untilMs: nowMs() - 1 };
    expect(await deliver(hook(fresh, { previous: over }))).toMatchObject({ verdict: 'retry' });
  });

  test('gets the same id in each attempt, another time of the attempt', async () => {
    const secret = newWebhookSecret('v1');
    await servers.setHook('shop', [secret]);
    await servers.behave('webhook', { next: [{ kind: 'refuse', name: '503', delivers: true }] });
    expect(await deliver(hook(secret))).toMatchObject({ verdict: 'retry' });
    expect(await deliver(hook(secret))).toEqual({ verdict: 'accepted' });
    expect(await servers.deliveries('webhook')).toEqual([['shop', 'evt_7_mwoxfuo0', 2]]);
  });

  test('that wants another time is asked again then', async () => {
    const misdeed: Misdeed = { kind: 'refuse', name: '429', retryAfter: '120' };
    await servers.behave('webhook', { next: [misdeed] });
    expect(await deliver(hook(newWebhookSecret('v1')))).toEqual({
      verdict: 'wait',
      afterMs: 120_000,
      problem: 'the receiver answered 429: it wants fewer calls',
    });
  });

  test('that has gone wants no more', async () => {
    await servers.behave('webhook', { next: [{ kind: 'refuse', name: '410' }] });
    expect(await deliver(hook(newWebhookSecret('v1')))).toEqual({
      verdict: 'dead',
      problem: 'the receiver answered 410: it wants no further events',
    });
  });

  const BREAKS: [name: string, misdeed: Misdeed][] = [
    ['a reset', { kind: 'reset-connection' }],
    ['a redirect', { kind: 'answer', status: 302, headers: { location: 'https://example.com/' } }],
    ['a long fault', { kind: 'answer', status: 500, body: 'x'.repeat(100_000) }],
  ];
  test.each(BREAKS)('is tried again after %s', async (_, misdeed) => {
    await servers.behave('webhook', { next: [misdeed] });
    expect(await deliver(hook(newWebhookSecret('v1')))).toMatchObject({ verdict: 'retry' });
  });

  test('takes an event with a status alone: what it says about it does not matter', async () => {
    await servers.behave('webhook', { next: [{ kind: 'huge', bytes: 1_000_000 }] });
    expect(await deliver(hook(newWebhookSecret('v1')))).toEqual({ verdict: 'accepted' });
  });

  test("of a provider never leads into this machine; the operator's may", async () => {
    const secret = newWebhookSecret('v1');
    await servers.setHook('shop', [secret]);
    const allow = settings.outgoingAllow;
    settings.outgoingAllow = [];
    try {
      expect(await deliver(hook(secret))).toMatchObject({ verdict: 'retry' });
      expect((await servers.totals('webhook')).requests).toBe(0);
      expect(await deliver(hook(secret, { providerId: null }))).toEqual({ verdict: 'accepted' });
    } finally {
      settings.outgoingAllow = allow;
    }
  });

  test('shares its places at a host with no other provider', async () => {
    const parties: (string | undefined)[] = [];
    const send: Outgoing['send'] = async ({ party }) => {
      parties.push(party);
      return new OutgoingFailure('busy', 'not now');
    };
    for (const providerId of [1, 2, 1]) {
      const webhook = hook(newWebhookSecret('v1'), { providerId });
      await new StandardSender({ send }).deliver(webhook, EVENT, nowMs(), never);
    }
    expect(new Set(parties).size).toBe(2);
    expect(parties[0]).toBe(parties[2] as string);
  });

  test('says no more of its address than the host when it cannot be reached', async () => {
    const secret = newWebhookSecret('v1');
    const url = `${servers.origin('otherName')}/hook/s3cret?token=s3cret`;
    const target = { kind: 'webhook', url, scheme: 'v1' } as const;
    const verdict = await deliver(hook(secret, { target }));
    expect(verdict).toMatchObject({ verdict: 'retry' });
    expect(JSON.stringify(verdict)).not.toContain('s3cret');
  });

  test('is left off when the signal says so', async () => {
    await servers.behave('webhook', { next: [{ kind: 'blackhole' }] });
    const stop = new AbortController();
    const sent = eventSenders.webhook.deliver(
      hook(newWebhookSecret('v1')),
      EVENT,
      nowMs(),
      stop.signal,
    );
    stop.abort();
    expect(await sent).toMatchObject({ verdict: 'retry' });
  });
});

const DEAD = { verdict: 'dead' } as const;
const CREDENTIALS = { verdict: 'credentials' } as const;
const ANOTHER_TOKEN = 'set the token of a bot that works';
/** Refusals of the server: the verdict, and the problem behind "Telegram answered". */
const REFUSED: [name: string, verdict: object, problem: string][] = [
  ['too-many', { verdict: 'wait', afterMs: 1_000 }, '429: Telegram wants fewer messages'],
  ['blocked', DEAD, '403: the user has blocked the bot: unblock the bot, or set another chat'],
  ['kicked', DEAD, '403: the bot is no member of the chat: add the bot to the chat again'],
  [
    ...(['chat-not-found', DEAD] as const),
    '400: there is no such chat, or the bot never was in it: add the bot to the chat, or set another chat',
  ],
  [
    ...(['topic-closed', DEAD] as const),
    '400: the topic is closed: open it again, or let the bot manage topics',
  ],
  [
    ...(['topic-missing', DEAD] as const),
    '400: the group has no such topic: set another topic behind the chat, or none',
  ],
  [
    ...(['cannot-parse', { verdict: 'failed' }] as const),
    '400: Telegram rejects this text: report this text as a fault of Gatepost',
  ],
  [
    ...(['unauthorized', CREDENTIALS] as const),
    `401: the token of the bot is wrong, or was revoked: ${ANOTHER_TOKEN}`,
  ],
  ['not-found', CREDENTIALS, `404: the token of the bot is wrong: ${ANOTHER_TOKEN}`],
  ['internal', { verdict: 'retry', afterMs: null }, '500: it has an internal fault'],
];

describe('a Telegram chat', () => {
  test('is sent in HTML that the Bot API takes', async () => {
    expect(await deliver(chat())).toEqual({ verdict: 'accepted' });
    await expectNoViolations('telegram');
    const [visit] = await servers.visits('telegram');
    expect(visit?.content).toMatchObject({
      chat_id: servers.telegram.chat,
      parse_mode: 'HTML',
      text: expect.stringContaining('a&lt;b&gt;&amp;"c'),
      link_preview_options: { is_disabled: true },
    });
  });

  test('with a topic gets it as the thread of the chat, General without a number', async () => {
    const { chat: id } = servers.telegram;
    for (const [topic, thread] of [
      ['42', 42],
      ['1', undefined],
    ] as const) {
      const target = { ...chat().target, chat: `${id}/${topic}` } as Webhook['target'];
      expect(await deliver(chat({ target }))).toEqual({ verdict: 'accepted' });
      const [visit] = (await servers.visits('telegram')).slice(-1);
      const { content } = visit as { content: Record<string, unknown> };
      expect([content['chat_id'], content['message_thread_id']]).toEqual([id, thread]);
    }
    await expectNoViolations('telegram');
  });

  test('has a button that leads to the link in the console, if that is public', async () => {
    const own = chat({ providerCode: 'Provide1' });
    const markup = async () => {
      expect(await deliver(own)).toEqual({ verdict: 'accepted' });
      const [visit] = (await servers.visits('telegram')).slice(-1);
      return (visit as { content: { reply_markup?: unknown } }).content.reply_markup;
    };
    const url = 'https://gatepost.example.org/console/links?at=Provide1&link=3';
    expect(await markup()).toEqual({
      inline_keyboard: [[{ text: 'نمایش لینک در کنسول', url }]],
    });
    for (const myUrl of ['', 'http://localhost:8080', 'http://127.0.0.1:8080', 'https://gate']) {
      settings.myUrl = myUrl;
      expect(await markup()).toBeUndefined();
    }
    settings.myUrl = 'https://gatepost.example.org';
    // Telegram has its own opinion of addresses: the message matters more than the button.
    await servers.behave('telegram', { next: [{ kind: 'refuse', name: 'bad-button' }] });
    expect(await markup()).toBeUndefined();
    await expectNoViolations('telegram');
  });

  test.each(REFUSED)('answers %s', async (name, verdict, problem) => {
    await servers.behave('telegram', { next: [{ kind: 'refuse', name }] });
    const expected = { ...verdict, problem: `Telegram answered ${problem}` } as AttemptVerdict;
    expect(await deliver(chat())).toEqual(expected);
  });

  test('of another bot: its token is not shown', async () => {
    const secret = `987654321:${'s3cret'.repeat(6)}`;
    const wrong = await deliver(chat({ secret }));
    expect(wrong).toMatchObject({ verdict: 'credentials' });
    settings.telegramEndpoint = servers.origin('otherName');
    const broken = await deliver(chat({ secret }));
    settings.telegramEndpoint = servers.origin('telegram');
    expect(broken).toMatchObject({ verdict: 'retry' });
    expect(JSON.stringify([wrong, broken])).not.toContain('s3cret');
  });

  test('at an endpoint that is no Bot API', async () => {
    const answers: Misdeed[] = [
      { kind: 'answer', status: 200, body: '<html>' },
      { kind: 'answer', status: 200, body: '{}' },
      { kind: 'answer', status: 502, body: '' },
    ];
    for (const misdeed of answers) {
      await servers.behave('telegram', { next: [misdeed] });
      expect(await deliver(chat())).toMatchObject({ verdict: 'retry' });
    }
  });
});

describe('a try', () => {
  test('is an event of its own kind, with a name of its own', async () => {
    const secret = newWebhookSecret('v1');
    await servers.setHook('shop', [secret]);
    const at = nowMs();
    const resumed: number[] = [];
    const store = { resumeWebhook: async (id: number) => resumed.push(id) > 0 };
    const core = { store } as unknown as Core;
    expect(await tryWebhook(core, eventSenders, hook(secret), at, never)).toEqual({
      verdict: 'accepted',
    });
    await expectNoViolations('webhook');
    expect(await servers.visits('webhook')).toMatchObject([
      { id: `evt_test_${at}`, content: { type: 'webhook.test', data: { webhook_id: 1 } } },
    ]);
    expect(await tryWebhook(core, eventSenders, chat(), at, never)).toEqual({
      verdict: 'accepted',
    });
    await expectNoViolations('telegram');
    await servers.behave('telegram', { next: [{ kind: 'answer', status: 502, body: '' }] });
    expect(await tryWebhook(core, eventSenders, chat(), at, never)).toMatchObject({
      verdict: 'retry',
    });
    // Waiting events are tried at once after the successful ones.
    expect(resumed).toEqual([1, 1]);
  });
});

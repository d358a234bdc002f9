/** `gatepost webhook …`. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { AttemptVerdict, EventSenders } from '../../src/core/outbox/carrier.ts';
import type { Webhook } from '../../src/core/port/webhook.ts';
import { addLink } from '../store/contract/fixture.ts';
import { auditEntries, deedOf } from '../support/audit.ts';
import { type CommandLine, commandLine, failureLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const CODE = 'Provide1';
const URL = 'https://bot.example.com/hook/s3cret';
const TOKEN = `123456789:${'s3cret'.repeat(6)}`;
const TIME = '2026-11-20T12:00:00Z';

let verdict: AttemptVerdict;
let told: Webhook[];
const eventSender = {
  concurrency: 1,
  spacingMs: 0,
  deliver: async (webhook: Webhook) => {
    told.push(webhook);
    return verdict;
  },
};
const eventSenders: EventSenders = { webhook: eventSender, telegram: eventSender };

let line: CommandLine;
beforeEach(async () => {
  verdict = { verdict: 'accepted' };
  told = [];
  line = commandLine({ eventSenders });
  expect(await line.run('provider', 'add', '--name', 'n', '--code', CODE)).toMatchObject({
    code: 0,
  });
});
afterEach(() => line.close());

async function hook(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await line.run('webhook', ...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return stdout;
}
const json = async (...words: string[]) => JSON.parse(await hook(...words, '--json'));

async function refused(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await line.run('webhook', ...words);
  expect({ words, stdout, failed: code > 0 }).toEqual({ words, stdout: '', failed: true });
  return stderr.replace(/^gatepost: /, '').split('\n')[0] ?? '';
}

async function deeds(): Promise<string[]> {
  const core = await openData(line.dataDir);
  const entries = await auditEntries(core);
  await core.store.close();
  return entries.map(deedOf).filter((deed) => deed.startsWith('webhook'));
}

/** So many links of the provider are made, each of which is an event. */
async function makeLinks(count: number): Promise<void> {
  const { store } = await openData(line.dataDir);
  const provider = await store.findProvider(CODE);
  for (let n = 1; n <= count; n++) {
    await addLink(store, provider?.id ?? 0, { installCode: `LinkCode000${n}` });
  }
  await store.close();
}

const aWebhook = () => hook('add', '--provider', CODE, '--url', URL);
const aChat = () =>
  hook(
    'add',
    '--telegram',
    '-1001',
    '--token-file',
    line.secretFile(`${TOKEN}\n`),
    '--locale',
    'fa',
  );

describe('add', () => {
  test('a URL of the operator, with the secret for the only time', async () => {
    const shown = await hook('add', '--url', 'http://127.0.0.1:8000/hook');
    expect(shown.replace(/whsec_[A-Za-z0-9+/]{43}=/, 'SECRET')).toBe(
      'id      1\nsecret  SECRET\n' +
        'The secret is shown only once. The receiver needs it to verify events.\n' +
        "'gatepost webhook test 1' tests it.\n",
    );
    expect(await deeds()).toEqual(['webhook.add {"id":1,"kind":"webhook","events":"all"}']);
  });

  test('a URL of a provider with Ed25519, for some kinds of events', async () => {
    const words = ['--signature', 'v1a', '--events', 'link.full,key.rotated'];
    expect(await json('add', '--provider', CODE, '--url', URL, ...words)).toEqual({
      id: 1,
      secret: null,
      public_key: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
    });
    expect(await json('list', '--provider', CODE)).toMatchObject([
      { signature: 'v1a', events: ['link.full', 'key.rotated'] },
    ]);
  });

  test('a Telegram chat, whose token is never shown again', async () => {
    expect(await aChat()).toBe("id  1\n'gatepost webhook test 1' tests it.\n");
    const listed = (await hook('list')) + (await hook('list', '--json'));
    expect(listed).not.toContain('s3cret');
  });

  test.each([
    [[], 'give either --url or --telegram'],
    [['--url', URL, '--telegram', '1'], 'give either --url or --telegram'],
    [['--telegram', '1'], '--telegram needs --token-file'],
    [['--url', URL, '--token-file', 'x'], '--token-file goes with --telegram'],
    [['--url', `${URL}#part`], 'url has a fragment'],
    [['--url', 'ftp://x'], 'the URL is not an http or https address of up to 2048 characters'],
    [['--provider', CODE, '--url', 'https://[::1]/'], 'url leads to a network that is not public'],
    [
      ['--url', URL, '--events', 'link.full'],
      'events must be all, or of backup.failed, backup.recovered, certificate.ending, disk.low, doctor.found, doctor.over, doctor.figures, gateway.stopped, release.available, provider.added, provider.changed, provider.suspended, provider.resumed, provider.key-rotated, provider.removed, key.first_use, change.waiting, webhook.disabled',
    ],
    [['--url', URL, '--signature', 'v2'], '--signature is one of v1, v1a'],
    [['--url', URL, '--locale', 'de'], '--locale is one of en, ru, zh, fa'],
    [['--url', URL, '--locale', 'ru'], '--locale goes with --telegram'],
    [
      ['--telegram', '-1001', '--token-file', 'x', '--signature', 'v1a'],
      '--signature goes with --url',
    ],
  ])('%p: %s', async (words, sentence) => {
    expect(await refused('add', ...words)).toBe(sentence);
    expect(await deeds()).toEqual([]);
  });

  test('a chat with what is no token', async () => {
    const file = line.secretFile('s3cret');
    const words = ['add', '--telegram', '1', '--token-file', file];
    expect(await refused(...words)).toBe(
      'the token must be that of a Telegram bot, such as 123456789:AA...',
    );
  });
});

describe('list', () => {
  test("the operator's own and those of all providers, or those of one", async () => {
    await aWebhook();
    await aChat();
    expect(await hook('list')).toBe(
      'ID  OWNER     KIND      TO                         EVENTS  STATE\n' +
        ' 2  operator  telegram  chat -1001 (fa)            all     enabled\n' +
        ' 1  Provide1  webhook   https://bot.example.com/…  all     enabled\n',
    );
    expect(await hook('list', '--provider', CODE)).toBe(
      'ID  OWNER     KIND     TO                         EVENTS  STATE\n' +
        ' 1  Provide1  webhook  https://bot.example.com/…  all     enabled\n',
    );
  });

  test('with all facts as JSON, and no secret', async () => {
    await aChat();
    expect(await json('list')).toEqual([
      {
        id: 1,
        provider_code: null,
        kind: 'telegram',
        url: null,
        url_fingerprint: null,
        signature: null,
        public_key: null,
        chat: '-1001',
        bot: '123456789',
        locale: 'fa',
        with: [],
        events: [],
        figures: 0,
        secret_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
        old_secret_until: null,
        created_at: TIME,
        disabled_at: null,
        disabled_why: null,
      },
    ]);
  });
});

describe('set', () => {
  test('what a chat shows: nothing at first, then what it is given', async () => {
    await aChat();
    const shown = async () => (await json('list'))[0].with;
    expect(await shown()).toEqual([]);
    await hook('set', '1', '--with', 'phone,note');
    expect(await shown()).toEqual(['note', 'phone']);
    expect(await hook('list')).toContain('chat -1001 (fa, note, phone)');
    await hook('set', '1', '--locale', 'en');
    expect(await shown()).toEqual(['note', 'phone']);
    await hook('set', '1', '--with', 'none');
    expect(await shown()).toEqual([]);
    expect((await deeds()).slice(1)).toEqual([
      'webhook.update {"id":1} {"with":["","note,phone"]}',
      'webhook.update {"id":1} {"locale":["fa","en"]}',
      'webhook.update {"id":1} {"with":["note,phone",""]}',
    ]);
    expect(await refused('set', '1', '--with', 'code')).toContain(
      'with must be none, or of note, phone',
    );
    await aWebhook();
    expect(await refused('set', '2', '--with', 'note')).toBe(
      'chat, locale and with are of Telegram: this webhook has a URL',
    );
  });

  test('events, URL, disabled, enabled', async () => {
    await aWebhook();
    expect(await hook('set', '1', '--events', 'link.full', '--url', 'https://b.example.com/')).toBe(
      'webhook 1 changed\n',
    );
    await hook('set', '1', '--disable');
    expect(await json('list', '--provider', CODE)).toMatchObject([
      {
        url: 'https://b.example.com/',
        events: ['link.full'],
        disabled_at: TIME,
        disabled_why: 'its owner disabled it',
      },
    ]);
    await hook('set', '1', '--enable');
    expect(await json('list', '--provider', CODE)).toMatchObject([{ disabled_at: null }]);
    expect((await deeds()).slice(1)).toEqual([
      'webhook.update {"id":1} {"events":["all","link.full"],"address":"changed"}',
      'webhook.update {"id":1} {"enabled":[true,false]}',
      'webhook.update {"id":1} {"enabled":[false,true]}',
    ]);
  });

  test('another chat in another language', async () => {
    await aChat();
    await hook('set', '1', '--telegram', '@channel', '--locale', 'zh');
    expect(await json('list')).toMatchObject([{ chat: '@channel', locale: 'zh' }]);
  });

  test.each([
    [[], 'nothing to change: give --url, --events, --enable or another option'],
    [['--telegram', '1'], 'chat, locale and with are of Telegram: this webhook has a URL'],
    [['--enable', '--disable'], "option '--disable' cannot be used with option '--enable'"],
    [['--url', 'https://[::1]/'], 'url leads to a network that is not public'],
  ])('%p: %s', async (words, sentence) => {
    await aWebhook();
    expect(await refused('set', '1', ...words)).toBe(sentence);
  });
});

describe('rotate', () => {
  test('the old secret signs for a day, or as long as is said', async () => {
    await aWebhook();
    const first = await json('rotate', '1');
    expect(first.secret).toMatch(/^whsec_/);
    const until = async () => (await json('list', '--provider', CODE))[0].old_secret_until;
    expect(await until()).toBe('2026-11-21T12:00:00Z');
    expect(await hook('list', '--provider', CODE)).toContain(
      '  enabled, the old secret signs until 2026-11-21T12:00:00Z\n',
    );
    expect((await line.run('webhook', 'rotate', '1')).stderr).toBe(
      'the old secret also signs until 2026-11-21T12:00:00Z: change the receiver before\n',
    );
    const second = await json('rotate', '1', '--keep-old', '1h');
    expect(second.secret).not.toBe(first.secret);
    expect(await until()).toBe('2026-11-20T13:00:00Z');
    await json('rotate', '1', '--keep-old', '0s');
    expect(await until()).toBeNull();
  });

  test('the old secret of an Ed25519 webhook signs for a day too', async () => {
    const words = ['--provider', CODE, '--url', URL, '--signature', 'v1a'];
    await json('add', ...words);
    await json('rotate', '1');
    expect(await json('list', '--provider', CODE)).toMatchObject([
      { old_secret_until: '2026-11-21T12:00:00Z' },
    ]);
  });

  test('a chat gets the token of another bot', async () => {
    await aChat();
    expect(await refused('rotate', '1')).toStartWith('the token must be that of a Telegram bot');
    await hook('rotate', '1', '--token-file', line.secretFile(`987654321:${'x'.repeat(35)}`));
    expect(await json('list')).toMatchObject([{ bot: '987654321' }]);
  });
});

describe('test', () => {
  test('that works', async () => {
    await aWebhook();
    expect(await hook('test', '1')).toBe('webhook 1 works: the receiver accepted the test event\n');
    expect(told).toMatchObject([{ id: 1, target: { url: URL } }]);
    expect(await json('test', '1')).toEqual({ id: 1, done: 'delivered' });
  });

  test('that does not: the reason, and what it means for events', async () => {
    await aWebhook();
    verdict = { verdict: 'retry', afterMs: null, problem: 'the receiver answered 500: it fell' };
    const sentence =
      'webhook 1 did not accept the test event: the receiver answered 500: it fell. An event would be retried, 10 times over about three days';
    expect(await refused('test', '1')).toBe(sentence);
    expect((await line.run('webhook', 'test', '1', '--json')).stderr).toBe(
      failureLine('test_failed', sentence),
    );
  });

  test('of one that is disabled', async () => {
    await aChat();
    await hook('set', '1', '--disable');
    expect(await hook('test', '1')).toBe(
      'webhook 1 works: the chat accepted the test event\n' +
        "It is disabled (its owner disabled it): 'webhook set --enable' enables it.\n",
    );
    verdict = { verdict: 'dead', problem: 'the user has blocked the bot' };
    expect(await refused('test', '1')).toBe(
      'webhook 1 did not accept the test event: the user has blocked the bot. An event would disable the webhook. It is disabled and gets no events',
    );
  });
});

describe('deliveries and replay', () => {
  test('what waits is listed, the newest first, and not put in twice', async () => {
    await aWebhook();
    await makeLinks(3);
    expect(await json('deliveries', '1')).toMatchObject([
      { event_id: 3, type: 'link.created', state: 'waiting', attempts: 0, problem: null },
      { event_id: 2 },
      { event_id: 1 },
    ]);
    const limited = await line.run('webhook', 'deliveries', '1', '--limit', '2');
    expect(limited.stdout.split('\n')).toHaveLength(4);
    expect(limited.stderr).toBe('the first 2 deliveries: --all or --limit shows more\n');
    expect(await json('deliveries', '1', '--state', 'failed')).toEqual([]);
    expect(await hook('replay', '1', '--since', '24h')).toBe(
      '0 events will be sent to webhook 1 again\n',
    );
  });

  test('replay sends a webhook events from before it', async () => {
    await aWebhook();
    await makeLinks(3);
    await hook('add', '--provider', CODE, '--url', 'https://late.example.com/');
    expect(await json('replay', '2', '--event', '2')).toEqual({ id: 2, count: 1, is_full: false });
    expect(await json('replay', '2', '--since', '2026-01-01')).toMatchObject({ count: 2 });
    expect(await json('deliveries', '2')).toHaveLength(3);
    const why = 'it is pending, was deleted, or belongs to another owner';
    for (const event of ['2', '999']) {
      expect(await refused('replay', '2', '--event', event)).toBe(
        `webhook 2 has no event ${event} to replay: ${why}`,
      );
    }
  });

  test.each([
    [[], 'give either --event or --since'],
    [['--event', '1', '--since', '1h'], 'give either --event or --since'],
    [['--event', 'x'], 'the number of an event is a whole number of 1 to 15 digits'],
  ])('replay %p: %s', async (words, sentence) => {
    await aWebhook();
    expect(await refused('replay', '1', ...words)).toBe(sentence);
  });
});

describe('remove', () => {
  test('asks first, and says what is lost', async () => {
    await aWebhook();
    expect(await refused('remove', '1')).toBe(
      'Remove webhook 1 to https://bot.example.com/… with its pending events: this cannot be undone: give --yes if there is no terminal',
    );
    expect(await hook('remove', '1', '--yes')).toBe('webhook 1 removed\n');
    expect(await json('list', '--provider', CODE)).toEqual([]);
    expect(await deeds()).toContain('webhook.remove {"id":1}');
  });
});

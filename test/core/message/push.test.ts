import { describe, expect, test } from 'bun:test';
import { sanitizeBody } from '../../../src/core/message/html.ts';
import { plainText } from '../../../src/core/message/plain-text.ts';
import { renderPush } from '../../../src/core/message/push.ts';
import { COMMAND, PUSH } from '../../../src/core/port/distribution.ts';
import type { PushMessage } from '../../../src/core/port/outbox.ts';
import { messageView } from '../../../src/http/answer/message-view.ts';

const SETTINGS = { gatewayCarryMessages: false, outputOffsetMinutes: 180 };
const CREATED_MS = Date.UTC(2026, 10, 22, 12, 0, 0);

function notification(payload: Record<string, unknown>): PushMessage {
  return {
    id: 7,
    providerId: 1,
    notificationType: PUSH,
    createdAtMs: CREATED_MS,
    expiresAtMs: CREATED_MS + 86_400_000,
    payload: { body: 'Hello', type_push: 'optional', expire_days: 1, ...payload },
  };
}

const command = (payload: Record<string, unknown>): PushMessage => ({
  ...notification({}),
  notificationType: COMMAND,
  payload,
});

describe('plain text of filtered HTML', () => {
  test.each([
    ['<p>Hi &amp; <b>you</b></p><p>5 > 3</p>', 'Hi & you\n\n5 > 3'],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    ['<ul><li>one</li><li>two</li></ul>', 'one\n\ntwo'],
    ['a line\nin the source  is\tone', 'a line in the source is one'],
    ['<img src="https://e.example/a.png" alt="5 > 3 &quot;sure&quot;"> see', '5 > 3 "sure" see'],
    ['<img src="https://e.example/a.png">', ''],
    ['<a href="https://e.example/?a=1&b=2" title="a>b">go</a> there', 'go there'],
    ['&amp;lt;b&amp;gt; is written &lt;b&gt;', '&lt;b&gt; is written <b>'],
    ['<div><div><div>deep</div></div></div>down', 'deep\n\ndown'],
    ['&#128512; &nbsp;x', '😀 x'],
  ])('%s', (html, text) => {
    expect(plainText(sanitizeBody(html))).toBe(text);
  });
});

test('a notification travels as plain text, with link, picture and the end of its time', () => {
  const message = notification({
    title: 'News & more',
    body: '<b>Hello</b> &amp; goodbye',
    link_for_open: 'tg://resolve?domain=news',
    background_image: 'https://img.example/1.png',
  });
  expect(renderPush(message, null, SETTINGS)).toEqual({
    id: 7,
    kind: 'notification',
    title: 'News & more',
    body: 'Hello & goodbye',
    link: 'tg://resolve?domain=news',
    image: 'https://img.example/1.png',
    isUrgent: false,
    expiresAtMs: CREATED_MS + 86_400_000,
    inboxMessage: null,
  });
});

test('force is urgent, optional is not', () => {
  expect(renderPush(notification({ type_push: 'force' }), null, SETTINGS).isUrgent).toBe(true);
  expect(renderPush(notification({}), null, SETTINGS).isUrgent).toBe(false);
});

test('a message that is nothing but a picture has no body', () => {
  const body = '<img src="https://img.example/1.png">';
  expect(renderPush(notification({ body, title: 'News' }), null, SETTINGS).body).toBeNull();
  expect(renderPush(notification({ body }), null, SETTINGS).body).toBe('…');
});

describe('the language of a device', () => {
  const locales = {
    RU: { title: 'Новости', body: '<i>Привет</i>', 'link-for-open': 'https://ru.example/' },
    'pt-BR': { body: 'Oi' },
    pt: { body: 'Olá' },
    zh_Hans: { body: '你好' },
  };
  const message = notification({ title: 'News', link_for_open: 'https://en.example/', locales });

  test.each([
    ['ru', 'Привет'],
    ['ru-RU', 'Привет'],
    ['ru_UA', 'Привет'],
    ['pt-BR', 'Oi'],
    ['pt-PT', 'Olá'],
    ['zh', '你好'],
    ['ZH-hans', '你好'],
    ['de', 'Hello'],
    [null, 'Hello'],
  ])('%p reads %s', (locale, body) => {
    expect(renderPush(message, locale, SETTINGS).body).toBe(body);
  });

  test('that CN names is Chinese, as apps and the specification write it', () => {
    const chinese = notification({ locales: { CN: { body: '你好' } } });
    for (const locale of ['zh-CN', 'zh_Hans', 'zh', 'CN']) {
      expect(renderPush(chinese, locale, SETTINGS).body).toBe('你好');
    }
  });

  test('what a locale leaves out is taken from the default', () => {
    const { title, link, body } = renderPush(message, 'pt', SETTINGS);
    expect({ title, link, body }).toEqual({
      title: 'News',
      link: 'https://en.example/',
      body: 'Olá',
    });
    expect(renderPush(message, 'ru', SETTINGS)).toMatchObject({
      title: 'Новости',
      link: 'https://ru.example/',
    });
  });
});

test('of a command nothing travels but that there is one', () => {
  const message = command({ action_type: 'import-data', 'input-data': 'c2VjcmV0' });
  const content = renderPush(message, 'ru', SETTINGS);
  expect(content).toEqual({
    id: 7,
    kind: 'command',
    title: null,
    body: null,
    link: null,
    image: null,
    isUrgent: false,
    expiresAtMs: CREATED_MS + 86_400_000,
    inboxMessage: null,
  });
  expect(JSON.stringify(content)).not.toContain('c2VjcmV0');
});

test('if the operator says so, the message travels as the inbox has it', () => {
  const message = command({ action_type: 'import-data', 'input-data': 'c2VjcmV0' });
  const { inboxMessage } = renderPush(message, null, { ...SETTINGS, gatewayCarryMessages: true });
  const inInbox = messageView({ ...message, providerId: 1, bytes: 1 }, SETTINGS);
  expect(JSON.parse(inboxMessage ?? '')).toEqual(inInbox);
});

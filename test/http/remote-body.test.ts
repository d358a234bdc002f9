/** How the body of a POST is read, byte by byte. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { REQUEST_BOUNDS } from '../../src/core/json-input.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { BODY_ROOM, DEVICE_BODY_ROOM } from '../../src/http/bound/room.ts';
import {
  call,
  type Reply,
  read,
  seedProvider,
  startTestApp,
  type TestApp,
} from '../support/app.ts';
import { register } from '../support/messaging.ts';
import { bind, HASH } from '../support/shop.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';

const BODY_BYTES_MAX = REQUEST_BOUNDS.bytesMax;
const TOO_LONG = `the body must not be longer than ${BODY_BYTES_MAX} bytes`;
const NO_OBJECT = 'the body must be a JSON object in UTF-8';
const command = { action_type: 'update-subscription', os: ['android'] };

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  own = await seedProvider(app);
});

const keys = (by = own) => `provider_code=${by.code}&auth_key=${by.authKey}`;
const target = (path = '/remote/command') => `${path}?${keys()}`;

/** Posts bytes as they are; `null`: no content type at all. */
async function post(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  contentType: string | null = null,
): Promise<Reply> {
  const headers = contentType === null ? {} : { 'content-type': contentType };
  // A text would get a content type of its own; bytes get none.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return read(await fetch(`${app.url}${target()}`, { method: 'POST', body: bytes, headers }));
}

async function expectRefused(reply: Promise<Reply>, detail: string): Promise<void> {
  const before = await takeSnapshot(app);
  const { status, text, headers } = await reply;
  expect(status).toBe(200);
  expect(text).toBe('{"rc":0,"msg":"Unknown error"}');
  expect(headers.get('x-error-detail')).toBe(detail);
  expect(difference(before, await takeSnapshot(app))).toEqual([]);
}

describe('what is no JSON object in UTF-8', () => {
  test.each([
    ['nothing', ''],
    ['half an object', '{"action_type":'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
    ['two objects', '{}{}'],
    ['a form', 'action_type=update-subscription&os=android'],
    ['bytes that are not UTF-8', Buffer.from('{"action_type":"\xff"}', 'latin1')],
    ['UTF-16', Buffer.from(JSON.stringify(command), 'utf16le')],
    ['brackets without an end', '['.repeat(32)],
  ])('%s', (_, body) => expectRefused(post(body), NO_OBJECT));

  test('a byte order mark is no offence', async () => {
    expect((await post(`\ufeff${JSON.stringify(command)}`)).json.rc).toBe(1);
  });

  test('a key that means something to JavaScript is a key like any other', async () => {
    const body = '{"__proto__":{"action_type":"update-subscription","os":["android"]}}';
    const reply = await post(body);
    expect(reply.text).toBe('{"rc":0,"msg":"Unknown error"}');
    expect(reply.headers.get('x-error-detail')).toStartWith('action_type must be one of');
  });
});

describe('256 KiB', () => {
  const padded = (length: number) => {
    const text = JSON.stringify({ ...command, padding: '' });
    return text.replace('""', `"${'x'.repeat(length - text.length)}"`);
  };

  test('are read', async () => {
    const body = padded(BODY_BYTES_MAX);
    expect(body).toHaveLength(BODY_BYTES_MAX);
    expect((await post(body)).json.rc).toBe(1);
  });

  test('and a byte are refused', () => expectRefused(post(padded(BODY_BYTES_MAX + 1)), TOO_LONG));

  test('and a byte are refused when nobody said how many there are', () => {
    const text = padded(BODY_BYTES_MAX + 1);
    const stream = new Blob([text]).stream();
    return expectRefused(post(stream), TOO_LONG);
  });

  /** Sends a head and the beginning of a body; the answer must come although the rest does not. */
  async function answered(head: string[], beginning: string): Promise<string> {
    const { port } = new URL(app.url);
    const lines = [`POST ${target()} HTTP/1.1`, 'host: localhost', ...head, '', beginning];
    const connection = await open(Number(port), lines.join('\r\n'));
    await until('the refusal is there', () => connection.received().includes('Unknown error'));
    connection.socket.destroy();
    return connection.received();
  }

  test('announced to be more are refused before they come', async () => {
    const received = await answered(['content-length: 300000'], '{"');
    expect(received).toStartWith('HTTP/1.1 200 OK\r\n');
    expect(received).toContain(TOO_LONG);
  });

  test('are the last that is read of a body without an end', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    // 320 KiB, and no last chunk.
    const received = await answered(['transfer-encoding: chunked'], chunk.repeat(5));
    expect(received).toStartWith('HTTP/1.1 200 OK\r\n');
    expect(received).toContain(TOO_LONG);
  });

  test('are not looked at for wrong credentials', async () => {
    const reply = await call(
      app,
      '/remote/command',
      { ...own, authKey: 'x'.repeat(32) },
      {},
      {
        method: 'POST',
        body: 'x'.repeat(BODY_BYTES_MAX + 1),
      },
    );
    expect(reply.text).toBe('{"rc":0,"msg":"Auth error"}');
  });
});

describe('bodies that take memory', () => {
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;
  const port = () => Number(new URL(app.url).port);

  test('are bounded by caller while they are on their way', async () => {
    const begin = () => open(port(), head(target(), BODY_BYTES_MAX), '{');
    const count = BODY_ROOM.bytesPerCallerMax / BODY_BYTES_MAX;
    const begun = await Promise.all(Array.from({ length: count }, begin));
    const next = await begin();
    await until('it is refused', () => next.received().includes('Unknown error'));
    expect(next.received()).toContain('too many large bodies are under way');
    expect((await post(JSON.stringify(command))).json.rc).toBe(1);
    for (const { socket } of [next, ...begun]) socket.destroy();
    const large = JSON.stringify({ ...command, padding: 'x'.repeat(200_000) });
    await until('there is room again', async () => (await post(large)).json.rc === 1);
  });

  test('of devices have a room of their own, as anybody can have tokens', async () => {
    const length = 64 * 1024;
    const begin = (token: string) =>
      open(
        port(),
        `POST /device/ack HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`,
        `content-length: ${length}\r\n\r\n{`,
      );
    const { bytesMax, bytesPerCallerMax } = DEVICE_BODY_ROOM;
    const tokens: string[] = [];
    for (let n = 0; n <= bytesMax / bytesPerCallerMax; n += 1) {
      tokens.push(await register(app, { hwid: `stranger-${n}` }));
    }
    const [last = '', ...others] = tokens;
    const times = Array.from({ length: bytesPerCallerMax / length });
    const begun = await Promise.all(others.flatMap((token) => times.map(() => begin(token))));
    const next = await begin(last);
    await until('it is refused', () => next.received().includes('Unknown error'));
    expect(next.received()).toContain('too many large bodies are under way');
    const large = JSON.stringify({ ...command, padding: 'x'.repeat(200_000) });
    expect((await post(large)).json.rc).toBe(1);
    for (const { socket } of [next, ...begun]) socket.destroy();
  });

  test('are let go of while their refusal is late', async () => {
    const strict = await startTestApp({ authFailuresPerMinuteMax: 0 });
    try {
      const length = 32 * 1024 * 1024;
      const wrong = `/remote/command?provider_code=${own.code}&auth_key=${'x'.repeat(32)}`;
      const connection = await open(Number(new URL(strict.url).port), head(wrong, length));
      await until('the refusal waits', () => strict.clock.sleeperCount === 1);
      let isSent = false;
      connection.socket.write(Buffer.alloc(length), () => {
        isSent = true;
      });
      await until('all of it is taken', () => isSent);
      expect(connection.received()).toBe('');
      strict.clock.advance(1_000);
      await until('it is refused', () => connection.received().includes('Auth error'));
      connection.socket.destroy();
    } finally {
      await strict.close();
    }
  });
});

test('of simultaneous general notifications exactly one is accepted', async () => {
  await bind(app, own);
  await call(app, '/provider', null, {
    id: own.code,
    domain_hash: HASH,
    hwid: `phone-of-${own.code}`,
    os_name: 'android',
  });
  const form = { body: 'x', type_push: 'force', expire_days: 1 };
  const body = JSON.stringify({ PushNotificationForm: form, os: ['android'] });
  const replies = await Promise.all(
    Array.from({ length: 50 }, () =>
      call(app, '/remote/notification', own, {}, { method: 'POST', body }),
    ),
  );
  expect(replies.filter(({ json }) => json.rc === 1)).toHaveLength(1);
  expect((await call(app, '/remote/list', own)).json.data).toHaveLength(1);
});

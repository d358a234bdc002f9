/** A Close frame leaves before its connection ends: a client that is busy then learns the code. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { TestApp } from '../support/app.ts';
import { inbox } from '../support/messaging.ts';
import { openStream, startWithPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let token: string;
beforeEach(async () => {
  ({ app, token } = await startWithPhone());
});
afterEach(() => app.close());

/** The server's Close frame with 4002, and a client's, which is masked. */
const REPLACED = Buffer.from([0x88, 34, 0x0f, 0xa2]).toString('latin1');
const REPLY = new Uint8Array([0x88, 0x82, 0, 0, 0, 0, 0x0f, 0xa2]);

/** Opens a stream by hand, which answers nothing by itself. */
async function openByHand() {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' });
  let text = '';
  let isEnded = false;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isEnded = true;
  });
  const lines = ['GET /device/stream HTTP/1.1', 'Host: localhost', 'Upgrade: websocket'];
  const key = `Sec-WebSocket-Key: ${btoa('0123456789abcdef')}`;
  const rest = ['Connection: Upgrade', 'Sec-WebSocket-Version: 13', key];
  socket.write(`${[...lines, ...rest, `Authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n`);
  await until('it is open', () => text.includes('101 Switching'));
  return { socket, text: () => text, isEnded: () => isEnded };
}

test('the connection ends when the peer has answered', async () => {
  const old = await openByHand();
  const stream = await openStream(app, token);
  await until('the frame came', () => old.text().includes(REPLACED));
  expect(old.text().split(REPLACED)[1]).toBe('the device opened another stream');
  expect(app.server.streamCount()).toBe(1);
  for (let n = 0; n < 5; n += 1) await inbox(app, token);
  expect(old.isEnded()).toBe(false);
  old.socket.write(REPLY);
  await until('it ended', old.isEnded);
  stream.socket.close();
});

test('after two seconds it ends without an answer', async () => {
  const old = await openByHand();
  await openStream(app, token);
  await until('the frame came', () => old.text().includes(REPLACED));
  app.clock.advance(1_900);
  for (let n = 0; n < 5; n += 1) await inbox(app, token);
  expect(old.isEnded()).toBe(false);
  app.clock.advance(100);
  await until('it ended', old.isEnded);
});

test('what was sent before leaves before it', async () => {
  const { socket, text } = await openByHand();
  // A frame of text that is no JSON: it is answered, and ends the stream.
  socket.write(new Uint8Array([0x81, 0x81, 0, 0, 0, 0, 0x78]));
  await until('the frame came', () => text().includes('\x88'));
  const [, after = ''] = text().split('\r\n\r\n');
  expect(after.indexOf('Unknown error')).toBeLessThan(after.indexOf('\x88'));
  expect(after.indexOf('Unknown error')).toBeGreaterThan(-1);
});

test('one address has many streams, each with its own frame', async () => {
  const many = await Promise.all(Array.from({ length: 30 }, () => openByHand()));
  const last = await openStream(app, token);
  await until('all but the last have a frame', () => {
    return many.every(({ text }) => text().includes(REPLACED));
  });
  for (const { text } of many) expect(text().split(REPLACED)).toHaveLength(2);
  expect(last.frames).toEqual([]);
});

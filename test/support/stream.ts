/** The device's end of /device/stream: a WebSocket that remembers, and one made of bytes. */

import { connect, type Socket } from 'node:net';
import type { Credentials } from '../../src/core/provider.ts';
import { startTestApp, type TestApp } from './app.ts';
import { byBinding, register } from './messaging.ts';
import { seedShop } from './shop.ts';
import { until } from './until.ts';

/** The target of a message to the phone of {@link startWithPhone}. */
export const toPhone = { hwid: 'phone' };

/** An appliance that delivers by itself, a provider, and a phone that is linked to it. */
export async function startWithPhone(): Promise<{
  app: TestApp;
  own: Credentials;
  token: string;
}> {
  const app = await startTestApp({ hasWorker: true });
  const own = await seedShop(app);
  return { app, own, token: await register(app, byBinding('phone', own)) };
}

export function noStreams(app: TestApp): Promise<true> {
  return until('no stream is left', () => app.server.streamCount() === 0);
}

/** An acknowledgement as a device sends it on its stream. */
export function received(...ids: number[]) {
  return { items: ids.map((id) => ({ id, state: 'received' })) };
}

interface Frame {
  rc: number;
  msg: string;
  detail?: string;
  data?: { id: number; payload: Record<string, unknown> }[];
}

interface DeviceSocket {
  socket: WebSocket;
  frames: Frame[];
  /** The ids of all messages that came, in order. */
  ids(): number[];
  send(value: unknown): void;
  /** Settles with the close code. */
  closed: Promise<number>;
  /** The server's reason for closing. */
  reason(): string;
}

/** Opens a stream with the token in `Authorization`; rejects when the handshake is refused. */
export function openStream(
  app: { url: string },
  token: string,
  options: Pick<BunFetchRequestInit, 'tls'> = {},
): Promise<DeviceSocket> {
  return openAs(app, { headers: { authorization: `Bearer ${token}` }, ...options });
}

interface Handshake extends Pick<BunFetchRequestInit, 'tls'> {
  headers?: Record<string, string>;
  protocols?: string[];
  query?: string;
}

/** Opens a stream by a handshake that is given; rejects when it is refused. */
export function openAs(
  app: { url: string },
  { query = '', ...handshake }: Handshake = {},
): Promise<DeviceSocket> {
  const url = `${app.url.replace(/^http/, 'ws')}/device/stream${query}`;
  const socket = new WebSocket(url, handshake as Bun.WebSocketOptions);
  const frames: Frame[] = [];
  socket.onmessage = ({ data }) => frames.push(JSON.parse(String(data)));
  let closingReason = '';
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      closingReason = reason;
      resolve(code);
    };
  });
  return new Promise((resolve, reject) => {
    socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
    socket.onopen = () =>
      resolve({
        socket,
        frames,
        ids: () => frames.flatMap(({ data = [] }) => data.map(({ id }) => id)),
        send: (value) => socket.send(typeof value === 'string' ? value : JSON.stringify(value)),
        closed,
        reason: () => closingReason,
      });
  });
}

interface RawStream {
  socket: Socket;
  received(): string;
  isClosed(): boolean;
}

/** A handshake by hand, after which nothing is answered: no pong, no close. */
export async function openRawStream(
  app: { url: string },
  token: string,
  query = '',
): Promise<RawStream> {
  const { port } = new URL(app.url);
  let text = '';
  let isClosed = false;
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(
    [
      `GET /device/stream${query} HTTP/1.1`,
      'host: localhost',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n'),
  );
  await until('the handshake is answered', () => text.includes('\r\n\r\n'));
  if (!text.startsWith('HTTP/1.1 101')) throw new Error(text);
  return { socket, received: () => text, isClosed: () => isClosed };
}

/** A text frame as a client sends it: masked, here with zeros (RFC 6455, section 5.2). */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  if (length > 125) throw new Error('short texts only');
  return Buffer.concat([Buffer.from([0x81, 0x80 | length, 0, 0, 0, 0]), Buffer.from(text)]);
}

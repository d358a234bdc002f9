/** A panel for tests: HTTP byte by byte, so that it can misbehave, and notes what it was asked. */

import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** One question that a panel is asked. */
export interface PanelCall {
  /** The head as it came, Latin-1. */
  head: string;
  method: string;
  /** Path and query. */
  target: string;
  socket: Socket;
  /** Sends bytes; settles when the other side has taken enough of them for more. */
  send(bytes: string | Uint8Array): Promise<void>;
}

export interface Panel {
  url: string;
  /** The questions so far. */
  calls: PanelCall[];
  /** Connections that are open. */
  openCount(): number;
  stop(): Promise<void>;
}

export const SUBSCRIPTION = 'dmxlc3M6Ly9leGFtcGxl\n';

/** Headers that panels send with a subscription. */
export const PANEL_HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Subscription-Userinfo': 'upload=0; download=1024; total=2048; expire=0',
  'Profile-Title': 'base64:R2F0ZQ==',
  'Profile-Update-Interval': '12',
  'Content-Disposition': 'attachment; filename="подписка"',
};

/** An answer as bytes; header values go out as UTF-8. */
export function answer(
  status: number,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const bytes = Buffer.from(body);
  const all = { 'Content-Length': String(bytes.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Some Words\r\n${lines.join('')}\r\n`),
    bytes,
  ]);
}

export const GZIPPED = gzipSync(Buffer.from('vless://example\n'.repeat(500)));

/** A key that Gatepost makes up, to see whether the panel serves strangers. */
export const MADE_UP = /\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Answers a good subscription for each key but a made-up one. */
export async function behaveWell(asked: PanelCall): Promise<void> {
  if (MADE_UP.test(asked.target)) await asked.send(answer(404));
  else await serveAll(asked);
}

/** Answers a good subscription. */
export async function serveAll({ send, method }: PanelCall): Promise<void> {
  const whole = Buffer.from(answer(200, SUBSCRIPTION, PANEL_HEADERS));
  await send(method === 'HEAD' ? whole.subarray(0, -SUBSCRIPTION.length) : whole);
}

/** Starts a panel on a free port; `behave` answers each question. */
export async function startPanel(
  behave: (call: PanelCall) => Promise<void> | void = behaveWell,
): Promise<Panel> {
  const calls: PanelCall[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    const send = (bytes: string | Uint8Array) =>
      new Promise<void>((resolve) => {
        if (socket.destroyed || socket.write(bytes)) return resolve();
        socket.once('drain', resolve);
        socket.once('close', () => resolve());
      });
    socket.on('data', (data) => {
      received += data.toString('latin1');
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const head = received.slice(0, end);
        received = received.slice(end + 4);
        const [method = '', target = ''] = head.split(' ', 2);
        const call = { head, method, target, socket, send };
        calls.push(call);
        void behave(call);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    openCount: () => sockets.size,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
